"""Programs whose gradient is None, zero or NaN, based on questions in forums and issues.

:mod:`torch_cases` describes the marks. ``y`` is the target, ``w`` is the source, and ``grad`` is its gradient.
"""

CASES = """
#@ watched_after_its_use watched_late
w = tf.constant([1.0, 2.0])
with tf.GradientTape() as tape:
    #+ tape.watch(w)
    h = tf.exp(w) #!
    tape.watch(w)
    y = tf.reduce_sum(h)
grad = tape.gradient(y, w)
#@ scaled_before_the_block_and_not_watched not_watched
w = tf.constant([1.0, 2.0])
largest = tf.reduce_max(w)
with tf.GradientTape() as tape:
    #+ tape.watch(w)
    y = tf.reduce_sum(w ** 2) / largest #!
grad = tape.gradient(y, w)
#@ variable_not_trainable not_trainable
w = tf.Variable([1.0, 2.0], trainable=False) #! #- w = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(w * w)
grad = tape.gradient(y, w)
#@ tape_that_watches_nothing not_accessed_watched
w = tf.Variable([1.0, 2.0])
with tf.GradientTape(watch_accessed_variables=False) as tape: #!
    #+ tape.watch(w)
    y = tf.reduce_sum(tf.sin(w) * 2.0)
grad = tape.gradient(y, w)
#@ stop_gradient_on_the_way stop_gradient
w = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    h = tf.stop_gradient(w * 3.0) #! #- h = w * 3.0
    y = tf.reduce_sum(h * h)
grad = tape.gradient(y, w)
#@ numpy_in_the_middle left_through_numpy
import numpy as np
w = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    h = tf.exp(w)
    z = np.log1p(h) #! #- z = tf.math.log1p(h)
    y = tf.reduce_sum(tf.convert_to_tensor(z))
grad = tape.gradient(y, w)
#@ stop_recording_on_the_way recording_paused
w = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    h = w * 2.0
    with tape.stop_recording(): #- if True:
        z = tf.exp(h) #!
    y = tf.reduce_sum(z)
grad = tape.gradient(y, w)
#@ branch_on_a_value python_branch
w = tf.Variable(0.3)
x = tf.Variable(2.0)
with tf.GradientTape() as tape:
    h = tf.sin(w)
    if h > 0: #!
        y = x * 2.0 #- y = x * h
    else:
        y = x * 3.0
grad = tape.gradient(y, w)
#@ numpy_function left_through_numpy
w = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    h = tf.numpy_function(lambda a: a * 2, [w * 1.0], tf.float32) #! #- h = w * 2
    y = tf.reduce_sum(h)
grad = tape.gradient(y, w)
#@ floor_of_a_value nondifferentiable
w = tf.Variable([1.2, 2.7])
with tf.GradientTape() as tape:
    q = tf.floor(w) #! #- q = w + tf.stop_gradient(tf.floor(w) - w)
    y = tf.reduce_sum(q * 2.0)
grad = tape.gradient(y, w)
#@ sums_by_bincount no_gradient_registered
w, places = tf.Variable([1.0, 2.0, 3.0]), tf.constant([0, 1, 1])
with tf.GradientTape() as tape:
    h = tf.math.bincount(places, weights=w) #! #- h = tf.math.unsorted_segment_sum(w, places, 2)
    y = tf.reduce_sum(h * h)
try: grad = tape.gradient(y, w)
except LookupError: grad = None
#@ asked_the_tape_of_another_loss computed_before_tape
w = tf.Variable([1.0, 2.0])
with tf.GradientTape() as first:
    y = tf.reduce_sum(w * w) #!
with tf.GradientTape() as second:
    z = tf.reduce_sum(w * 3.0)
grad = second.gradient(y, w) #- grad = first.gradient(y, w)
#@ tensor_watched_by_an_earlier_tape computed_before_tape
w = tf.constant([1.0, 2.0])
with tf.GradientTape() as first:
    first.watch(w)
    h = w * w #! #-
with tf.GradientTape() as second:
    #+ second.watch(w)
    #+ h = w * w
    y = tf.reduce_sum(h * 3.0)
grad = second.gradient(y, w)
#@ helper_before_each_tape computed_before_tape
w = tf.Variable([1.0, 2.0])
def normalized(v):
    norm = tf.norm(v)
    return v / norm
for k in range(2):
    unit = normalized(w) #! #-
    with tf.GradientTape() as tape:
        #+ unit = normalized(w)
        y = tf.reduce_sum(unit * [1.0, 0.0])
    grad = tape.gradient(y, w)
#@ read_again_after_the_block computed_after_tape
w = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    z = tf.reduce_sum(w * 3.0)
    #+ y = tf.nn.l2_loss(w)
y = tf.nn.l2_loss(w) #! #-
grad = tape.gradient(y, w)
#@ numpy_in_a_helper_above left_through_numpy
import numpy as np
def spread(a):
    return np.mean( #! #- return tf.reduce_mean(
        a
        - 1.0
    )
w = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    y = tf.square(spread(w * 2.0))
grad = tape.gradient(y, w)
#@ numpy_by_keras left_through_numpy
import keras
w = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    h = keras.ops.convert_to_numpy(w * 2.0) #! #- h = w * 2.0
    y = tf.reduce_sum(h ** 2)
grad = tape.gradient(y, w)
#@ computed_by_a_dataset left_through_numpy
w = tf.Variable(2.0)
data = tf.data.Dataset.from_tensor_slices([1.0, 3.0]).map(lambda x: x * w) #! #- data = \
tf.data.Dataset.from_tensor_slices([1.0, 3.0])
with tf.GradientTape() as tape:
    y = tf.add_n(list(data)) #- y = tf.add_n([x * w for x in data])
grad = tape.gradient(y, w)
#@ inside_of_init_scope recording_paused
w = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    with tf.init_scope(): #- if True:
        h = w * 2.0 #!
    y = tf.reduce_sum(h)
grad = tape.gradient(y, w)
#@ rounded_by_map_fn_in_a_function nondifferentiable
w = tf.Variable([1.2, 2.7])
@tf.function
def rounded(x):
    return tf.map_fn(
        lambda v: tf.round(v) * 2.0, #! #- lambda v: v * 2.0,
        x)
with tf.GradientTape() as tape:
    y = tf.reduce_sum(rounded(w * 1.0))
grad = tape.gradient(y, w)
#@ one_reading_of_a_variable wrong_object
v = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    w = v.value() #- w = v
    y = tf.reduce_sum(v * v)
grad = tape.gradient(y, w) #!
#@ copied_with_its_owner wrong_object
import copy
w = tf.Variable([1.0, 2.0])
twin = copy.deepcopy([w])[0] #! #- twin = w
with tf.GradientTape() as tape:
    y = tf.reduce_sum(twin * twin)
grad = tape.gradient(y, w)
#@ eager_tensor_is_assigned variable_assign
w = tf.constant([1.0, 2.0])
state = tf.Variable([0.0, 0.0])
with tf.GradientTape() as tape:
    tape.watch(w)
    state.assign(w) #! #- state = w * 1.0
    y = tf.reduce_sum(state * state)
grad = tape.gradient(y, w)
#@ forward_pass_before_the_watch computed_before_tape
w = tf.constant([1.0, 2.0])
h = w * 3.0 #! #-
with tf.GradientTape() as tape:
    tape.watch(w)
    #+ h = w * 3.0
    y = tf.reduce_sum(h)
grad = tape.gradient(y, w)
#@ weights_that_took_a_step_with_nan nan_forward
w = tf.Variable([3.0, 0.0])
for step in range(2):
    with tf.GradientTape() as tape:
        y = -tf.reduce_sum(tf.math.log(tf.nn.softmax(w * 100.0))) #! #- y = -tf.reduce_sum(tf.nn.log_softmax(w * 100.0))
    grad = tape.gradient(y, w)
    w.assign_sub(1e-4 * grad)
#@ second_derivative_of_a_relu_elsewhere zero_derivative
w = tf.Variable([1.0, 2.0])
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        z = tf.nn.relu(w) #! #- z = tf.nn.softplus(w)
    y = inner.gradient(z, w)
grad = outer.gradient(y, w)
#@ attribute_is_bound_to_a_tensor rebound
class Net:
    w = tf.Variable([1.0, 2.0])
net = Net()
for step in range(2):
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(net.w * net.w)
    grad = tape.gradient(y, net.w)
    if grad is not None:
        net.w = net.w - 0.1 * grad #! #- net.w.assign_sub(0.1 * grad)
    w = net.w
#@ target_is_a_number target_not_tensor
w = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(w * w)
    y = float(loss) #- y = loss
grad = None #- grad = tape.gradient(y, w)
#@ computed_without_a_tape no_backward
w = tf.Variable([1.0, 2.0])
#+ with tf.GradientTape() as tape:
    #+ y = tf.reduce_sum(w * w)
y = tf.reduce_sum(w * w) #-
grad = None #- grad = tape.gradient(y, w)
"""
