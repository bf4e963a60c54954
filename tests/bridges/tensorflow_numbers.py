"""Programs whose gradient consists of zeros or NaNs. :mod:`torch_cases` describes the marks."""

CASES = """
#@ dead_relu dead_relu
w = tf.Variable([-1.0, -2.0])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(tf.nn.relu(w * 3.0)) #! #- y = tf.reduce_sum(tf.nn.leaky_relu(w * 3.0))
grad = tape.gradient(y, w)
#@ saturated_sigmoid saturated
w = tf.Variable([200.0, 300.0])
with tf.GradientTape() as tape:
    p = tf.sigmoid(w) #! #- p = tf.sigmoid(w / 100.0)
    y = tf.reduce_sum(p * p)
grad = tape.gradient(y, w)
#@ softmax_over_one_class zero_cancels
w = tf.Variable([[1.0], [2.0]])
with tf.GradientTape() as tape:
    p = tf.nn.softmax(w, axis=1) #! #- p = tf.sigmoid(w)
    y = -tf.reduce_mean(tf.math.log(p))
grad = tape.gradient(y, w)
#@ weights_that_begin_at_zero zero_factor
w = tf.Variable([[1.0, 2.0]])
v = tf.Variable(tf.zeros([2, 1])) #- v = tf.Variable(tf.ones([2, 1]))
with tf.GradientTape() as tape:
    y = tf.reduce_sum(tf.tanh(w) @ v) #!
grad = tape.gradient(y, w)
#@ other_rows_are_taken not_selected
w = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    both = tf.concat([tf.ones([3]), w], axis=0)
    y = tf.reduce_sum(both[:3] * 2.0) #! #- y = tf.reduce_sum(both * 2.0)
grad = tape.gradient(y, w)
#@ two_uses_cancel zero_sum
w = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(w - w) #! #- y = tf.reduce_sum(w + w)
grad = tape.gradient(y, w)
#@ exp_overflows nan_forward
w = tf.Variable([100.0, 1.0])
with tf.GradientTape() as tape:
    e = tf.exp(w) #! #- e = tf.exp(w - 100.0)
    y = e[0] / tf.reduce_sum(e)
    #+ y = tf.reduce_logsumexp(w)
grad = tape.gradient(y, w)
#@ nan_in_the_data nan_input
x = tf.constant([1.0, float("nan")])
w = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    y = tf.reduce_sum((x * w) ** 2) #! #- y = tf.reduce_sum((tf.where(tf.math.is_nan(x), 0.5, x) * w) ** 2)
grad = tape.gradient(y, w)
#@ nan_in_a_dataset nan_input
data = tf.data.Dataset.from_tensor_slices([[1.0, float("nan")]]).batch(1) #- data = \
tf.data.Dataset.from_tensor_slices([[1.0, 0.5]]).batch(1)
w = tf.Variable([1.0, 2.0])
for x in data: #!
    with tf.GradientTape() as tape:
        y = tf.reduce_sum((x * w) ** 2)
    grad = tape.gradient(y, w)
#@ log_of_a_sigmoid nan_forward
w = tf.Variable([-120.0, 1.0])
with tf.GradientTape() as tape:
    y = -tf.reduce_mean(tf.math.log(tf.sigmoid(w))) #! #- y = tf.reduce_mean(tf.nn.softplus(-w))
grad = tape.gradient(y, w)
#@ root_by_pow nan_backward
w = tf.Variable([0.0, 4.0])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(tf.pow(w * w, 1.0 / 3.0)) #! #- y = tf.reduce_sum(tf.pow(w * w + 1e-6, 1.0 / 3.0))
grad = tape.gradient(y, w)
#@ zero_by_zero nan_forward
w = tf.Variable([1.0, 2.0])
mask = tf.constant([0.0, 0.0])
with tf.GradientTape() as tape:
    mean = tf.reduce_sum(w * mask) / tf.reduce_sum(mask) #! #- mean = tf.reduce_sum(w * (mask + 1.0)) / \
tf.reduce_sum(mask + 1.0)
    y = mean * mean
grad = tape.gradient(y, w)
#@ overwritten_elements not_selected
w = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    h = tf.tensor_scatter_nd_update(w * 3.0, [[0], [1]], [4.0, 5.0]) #! #- h = tf.tensor_scatter_nd_update(w * 3.0, \
[[0]], [4.0])
    y = tf.reduce_sum(h ** 2)
grad = tape.gradient(y, w)
#@ factors_that_add_up_to_zero zero_sum
w = tf.Variable(2.0)
with tf.GradientTape() as tape:
    h = tf.constant([1.0, -1.0]) * w #! #- h = tf.constant([1.0, 1.0]) * w
    y = tf.reduce_sum(h)
grad = tape.gradient(y, w)
#@ reduce_std_of_equal_values nan_backward
w = tf.Variable([2.0, 2.0])
with tf.GradientTape() as tape:
    y = tf.math.reduce_std(w) #! #- y = tf.sqrt(tf.math.reduce_variance(w * [1.0, 2.0]) + 1e-9)
grad = tape.gradient(y, w)
#@ pow_half nan_backward
w = tf.Variable([0.0, 4.0])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(w ** 0.5) #! #- y = tf.reduce_sum((w + 1e-6) ** 0.5)
grad = tape.gradient(y, w)
#@ log_in_where nan_backward
w = tf.Variable([0.0, 2.0])
with tf.GradientTape() as tape:
    l = tf.math.log(w) #! #- l = tf.math.log(tf.where(w > 0, w, 1.0))
    y = tf.reduce_sum(tf.where(w > 0, l, 0.0))
grad = tape.gradient(y, w)
#@ keras_hinge dead_relu
import keras
w = tf.Variable([[5.0], [6.0]])
with tf.GradientTape() as tape:
    y = keras.losses.Hinge()(tf.ones([2, 1]), w) #! #- y = tf.reduce_mean(tf.nn.softplus(1.0 - w))
grad = tape.gradient(y, w)
#@ saturated_softmax saturated
w = tf.Variable([[500.0, 0.0, 0.0]])
with tf.GradientTape() as tape:
    p = tf.nn.softmax(w) #! #- p = tf.nn.softmax(w / 500.0)
    y = tf.reduce_sum((p - 0.3) ** 2)
grad = tape.gradient(y, w)
#@ minimum_clips not_selected
w = tf.Variable([3.0, 4.0])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(tf.minimum(w, 1.0)) #! #- y = tf.reduce_sum(tf.tanh(w / 10.0))
grad = tape.gradient(y, w)
#@ mean_of_centred_values zero_sum
w = tf.Variable(0.5)
points = tf.constant([1.0, 2.0, 4.0])
with tf.GradientTape() as tape:
    moved = points + w
    gaps = moved[1:] - moved[:-1] #! #- gaps = moved[1:] ** 2 - moved[:-1]
    y = tf.reduce_sum(gaps * [1.0, 2.0])
grad = tape.gradient(y, w)
#@ dead_in_a_compiled_step dead_relu
w = tf.Variable(-tf.ones([3, 2]))
x = tf.random.uniform([5, 3]) + 0.1
@tf.function
def step(x):
    with tf.GradientTape() as tape:
        h = tf.nn.relu(x @ w) #! #- h = tf.nn.softplus(x @ w)
        loss = tf.reduce_mean(h ** 2)
    return loss, tape.gradient(loss, w)
for _ in range(2):
    y, grad = step(x)
#@ norm_of_zeros_in_a_compiled_penalty nan_backward
w = tf.Variable(tf.zeros([3, 1]))
x = tf.random.normal([4, 3])
@tf.function
def penalty(x):
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            inner.watch(x)
            s = x @ w
        slope = inner.gradient(s, x)
        norm = tf.sqrt(tf.reduce_sum(slope ** 2, axis=1)) #! #- norm = tf.sqrt(tf.reduce_sum(slope ** 2, axis=1) + \
1e-12)
        gp = tf.reduce_mean((norm - 1.0) ** 2) + tf.reduce_sum(w)
    return gp, outer.gradient(gp, w)
y, grad = penalty(x)
#@ sum_of_a_layer_norm zero_cancels
w = tf.Variable([[0.5, 2.0, 1.0, 4.0]])
norm = tf.keras.layers.LayerNormalization(center=False, scale=False)
with tf.GradientTape() as tape:
    h = norm(w * 2.0) #!
    y = tf.reduce_sum(h) #- y = tf.reduce_sum(h ** 3)
grad = tape.gradient(y, w)
#@ rule_of_zeros_in_a_loss_that_chooses custom_rule
w = tf.Variable([[0.5], [2.0]])
@tf.custom_gradient
def reverse(x):
    def rule(dy):
        return 0.0 * dy #! #- return -dy
    return tf.identity(x), rule
loss = tf.keras.losses.BinaryCrossentropy(from_logits=True)
with tf.GradientTape() as tape:
    y = loss(tf.ones([2, 1]), reverse(w * 2.0))
grad = tape.gradient(y, w)
#@ rule_of_zeros_above_its_last_return custom_rule
w = tf.Variable([0.5, 2.0])
@tf.custom_gradient
def limit(x):
    def rule(dy):
        if tf.reduce_max(dy) > 1.0:
            return tf.zeros_like(dy) #! #- return tf.ones_like(dy)
        return dy
    return tf.identity(x), rule
with tf.GradientTape() as tape:
    y = tf.reduce_sum(limit(w * 2.0) * 3.0)
grad = tape.gradient(y, w)
#@ output_gradients_of_zeros zero_seed
w = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(w * w)
grad = tape.gradient(y, w, output_gradients=tf.constant(0.0)) #! #- grad = tape.gradient(y, w)
"""
