"""More programs, based on reports in issue trackers. :mod:`torch_cases` describes the marks."""

CASES = """
#@ tape_reset computed_before_tape
w = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    h = w * w
    tape.reset() #! #-
    y = tf.reduce_sum(h)
grad = tape.gradient(y, w)
#@ straight_through_cut_as_a_whole stop_gradient
w = tf.Variable([0.3, 1.8])
with tf.GradientTape() as tape:
    codes = tf.stop_gradient(w + tf.round(w) - w) #! #- codes = w + tf.stop_gradient(tf.round(w) - w)
    y = tf.reduce_sum((codes - 0.3) ** 2)
grad = tape.gradient(y, w)
#@ one_hot_of_a_cast integer_dtype
w = tf.Variable([0.4, 1.7])
with tf.GradientTape() as tape:
    k = tf.cast(w, tf.int32) #! #-
    y = tf.reduce_sum(tf.one_hot(k, 3) * [1.0, 2.0, 3.0]) #- y = tf.reduce_sum(w * [1.0, 2.0])
grad = tape.gradient(y, w)
#@ unconnected_zero stop_gradient
w = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(tf.stop_gradient(w) * 2.0) #! #- y = tf.reduce_sum(w * 2.0)
grad = tape.gradient(y, w, unconnected_gradients=tf.UnconnectedGradients.ZERO)
#@ unused_branch_of_the_model independent
import keras
a, b = keras.layers.Dense(2), keras.layers.Dense(2)
x = tf.ones([1, 2])
a.build([None, 2]); b.build([None, 2])
w = b.kernel.value
with tf.GradientTape() as tape:
    h = a(x)
    y = tf.reduce_sum(h) #- y = tf.reduce_sum(b(h))
grad = tape.gradient(y, w)
#@ watch_before_reassign watched_late
w = tf.constant([1.0, 2.0])
with tf.GradientTape() as tape:
    #+ tape.watch(w)
    y = tf.reduce_sum(w ** 2) #!
    tape.watch(w)
grad = tape.gradient(y, w)
#@ loss_outside_of_the_block computed_after_tape
w = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    h = tf.nn.sigmoid(w)
    #+ y = tf.reduce_mean((h - 1.0) ** 2)
y = tf.reduce_mean((h - 1.0) ** 2) #! #-
grad = tape.gradient(y, w)
#@ bool_of_tensor_loss python_branch
w = tf.Variable(0.3)
v = tf.Variable(1.0)
with tf.GradientTape() as tape:
    gain = w * 2.0
    scale = 2.0 if gain > 0.5 else 1.0 #! #- scale = gain
    y = v * scale
grad = tape.gradient(y, w)
#@ variable_of_the_points wrong_object
w = tf.constant([[0.0, 1.0], [2.0, 3.0]])
with tf.GradientTape() as tape:
    inputs = tf.Variable(w) #! #- tape.watch(w); inputs = w
    y = tf.reduce_sum(tf.exp(-inputs**2))
grad = tape.gradient(y, w)
#@ rounded_codes nondifferentiable
import keras
encoder = keras.layers.Dense(2, activation="sigmoid", kernel_initializer="ones")
x = tf.random.uniform([4, 3])
encoder.build([None, 3])
w = encoder.kernel.value
with tf.GradientTape() as tape:
    bits = tf.round(encoder(x)) #! #- bits = encoder(x)
    y = tf.reduce_mean((bits - 0.3) ** 2)
grad = tape.gradient(y, w)
#@ other_branch_of_a_function independent
w, v = tf.Variable(2.0), tf.Variable(1.0)
@tf.function
def f(x):
    if tf.reduce_sum(x) > 0: #- if tf.reduce_sum(x) < 0:
        h = x * v
    else:
        h = x * w
    return tf.reduce_sum(h)
with tf.GradientTape() as tape:
    y = f(tf.constant([1.0, 2.0]))
grad = tape.gradient(y, w)
#@ custom_gradient_in_a_compiled_step custom_rule
@tf.custom_gradient
def hard(x):
    def grad(upstream):
        return upstream * 0.0 #! #- return upstream
    return tf.cast(x > 0, tf.float32), grad
w = tf.Variable([0.3, -0.4])
@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(hard(x * w) * 2.0)
    return loss, tape.gradient(loss, w)
y, grad = step(tf.constant([1.0, 2.0]))
#@ state_changed_in_a_function variable_assign
w, memory = tf.Variable(0.5), tf.Variable(0.0, trainable=False)
@tf.function
def f(x):
    memory.assign(w * x) #!
    return memory * 2.0 #- return w * x * 2.0
with tf.GradientTape() as tape:
    y = f(tf.constant(3.0))
grad = tape.gradient(y, w)
#@ second_tape_does_not_watch not_watched
w = tf.constant([0.5, 1.5])
v = tf.Variable([2.0, 3.0])
with tf.GradientTape() as second: #!
    with tf.GradientTape() as first:
        first.watch(w) #- first.watch(w); second.watch(w)
        u = tf.reduce_sum(tf.tanh(w * v) * v)
    y = first.gradient(u, w)
grad = second.gradient(y, w)
#@ values_through_numpy wrong_object
v = tf.Variable([1.0, 2.0, 3.0])
w = tf.constant(v.numpy()) #! #- w = v
with tf.GradientTape() as tape:
    y = tf.reduce_sum(v ** 2)
grad = tape.gradient(y, w)
#@ loss_of_the_model_not_its_clone wrong_object
import keras
model = keras.Sequential([keras.layers.Input([3]), keras.layers.Dense(2)])
twin = keras.models.clone_model(model) #! #- twin = model
twin.set_weights(model.get_weights())
w = twin.layers[0].kernel.value
with tf.GradientTape() as tape:
    y = tf.reduce_sum(model(tf.ones([2, 3])) ** 2)
grad = tape.gradient(y, w)
#@ branch_that_does_not_run independent
w, v = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 5.0])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(tf.cond(v[0] > 0.0, lambda: v ** 2, lambda: w * 2.0)) #- y = tf.reduce_sum(w ** 2)
grad = tape.gradient(y, w)
#@ identity_asked wrong_object
v = tf.Variable([0.3, 0.4])
with tf.GradientTape() as tape:
    w = tf.identity(v) #! #- w = v
    y = tf.reduce_sum(tf.sin(v))
grad = tape.gradient(y, w)
#@ custom_gradient_uses_a_variable custom_rule
w = tf.Variable([2.0, 1.0])
@tf.custom_gradient
def f(x):
    def grad(g, variables=None):
        return g * w, [None for _ in variables] #! #- return g * w, [g * x for _ in variables]
    return x * w, grad
v = tf.Variable([0.5, 0.3])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(f(v * 1.0))
grad = tape.gradient(y, w)
#@ log_probability_kept_as_a_number left_through_numpy
w = tf.Variable([0.3, -0.2])
with tf.GradientTape() as tape:
    logits = w * 2.0
    action = int(tf.argmax(logits))
    kept = []
    kept.append(float(tf.nn.log_softmax(logits)[action])) #! #- kept.append(tf.nn.log_softmax(logits)[action])
    y = -tf.reduce_sum(tf.stack(kept))
grad = tape.gradient(y, w)
#@ one_hot_beside_a_commitment_that_is_stopped nondifferentiable
w = tf.Variable([0.3, -0.2])
with tf.GradientTape() as tape:
    z = w * 2.0
    chosen = tf.one_hot(tf.argmax(z), 2) #! #- chosen = tf.nn.softmax(z)
    y = tf.reduce_sum(chosen * [1.0, 2.0]) + tf.reduce_sum(tf.stop_gradient(z) ** 2)
grad = tape.gradient(y, w)
#@ used_by_a_helper not_watched
w = tf.constant([1.0, 2.0])
def energy(v):
    return tf.reduce_sum(v ** 2)
with tf.GradientTape() as tape:
    #+ tape.watch(w)
    y = energy(w) #!
grad = tape.gradient(y, w)
#@ variable_made_in_each_call wrong_object
class Noisy(tf.Module):
    def __init__(self):
        self.w = None
    def __call__(self, x):
        self.w = tf.Variable(tf.ones([3, 1])) #! #- self.w = tf.Variable(tf.ones([3, 1])) if self.w is None else self.w
        return x @ self.w
layer = Noisy()
x = tf.constant([[1.0, 2.0, 3.0]])
layer(x)
w = layer.w
with tf.GradientTape() as tape:
    y = tf.reduce_sum(layer(x) ** 2)
grad = tape.gradient(y, w)
#@ moments_of_a_helper_in_numpy left_through_numpy
import numpy as np
def moments(d):
    return np.array([d.mean(), d.std()], np.float32).reshape(1, 2) #- return tf.reshape(tf.stack([tf.reduce_mean(d), \
tf.math.reduce_std(d)]), [1, 2])
w = tf.Variable([[0.3, 0.1, 0.7]])
k = tf.constant([[1.0], [2.0]])
with tf.GradientTape() as tape:
    h = w * 2.0
    d = moments(h.numpy().T) @ k #! #- d = moments(h) @ k
    y = tf.reduce_mean(tf.square(d - 1.0))
grad = tape.gradient(y, w)
#@ python_function_behind_a_factor left_through_numpy
import numpy as np
def score(a):
    return np.float32(np.tanh(a.numpy()).sum()) #- return tf.reduce_sum(tf.tanh(a))
w = tf.Variable([0.5, 1.0])
with tf.GradientTape() as tape:
    s = tf.py_function(score, [w * 2.0], tf.float32) #! #- s = score(w * 2.0)
    y = 1.0 - s
grad = tape.gradient(y, w)
#@ stopped_and_read_as_a_number stop_gradient
w = tf.Variable(2.0)
with tf.GradientTape() as tape:
    h = tf.stop_gradient(w) #! #- h = tf.identity(w)
    print(float(w))
    y = h * 3.0
grad = tape.gradient(y, w)
#@ first_call_makes_the_variables nondifferentiable
enc, emb = tf.keras.layers.Dense(5), tf.keras.layers.Embedding(5, 3)
@tf.function
def decode(x):
    k = tf.argmax(enc(x), axis=-1) #! #- k = enc(x)
    return emb(k) #- return emb(tf.argmax(k, -1)) + tf.reduce_sum(k)
with tf.GradientTape() as tape:
    y = tf.reduce_sum(decode(tf.ones([2, 4])))
w = enc.kernel.value
grad = tape.gradient(y, w)
#@ step_of_an_inner_loop_is_watched computed_before_tape
w = tf.Variable([1.0, 2.0])
with tf.GradientTape() as inner:
    cost = tf.reduce_sum(w ** 2)
fast = w - 0.1 * inner.gradient(cost, w) #!
with tf.GradientTape() as tape:
    tape.watch(fast)
    y = tf.reduce_sum(fast ** 2) #- y = tf.reduce_sum((w * 0.8) ** 2)
grad = tape.gradient(y, w)
#@ layer_that_no_call_used unused_layer
class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.body = tf.keras.layers.Dense(2)
        self.head = tf.keras.layers.Dense(2) #!
    def call(self, x):
        return self.body(x) #- return self.head(self.body(x))
net = Net()
net.head.build((None, 2))
w = net.head.kernel.value
with tf.GradientTape() as tape:
    y = tf.reduce_sum(net(tf.ones([1, 2])))
grad = tape.gradient(y, w)
#@ added_to_a_variable_that_is_not_trained variable_assign
w, held = tf.Variable(0.8), tf.Variable(0.5, trainable=False)
with tf.GradientTape() as tape:
    held.assign_add(0.1 * w) #! #- now = held + 0.1 * w
    y = 3.0 * held #- y = 3.0 * now
grad = tape.gradient(y, w)
#@ tensor_made_anew_for_the_gradient wrong_object
data = tf.constant([1.0, 2.0])
with tf.GradientTape() as tape:
    x = tf.expand_dims(data, 0)
    tape.watch(x)
    y = tf.reduce_sum(x ** 2) #- w = x; y = tf.reduce_sum(x ** 2)
w = tf.expand_dims(data, 0) #! #-
grad = tape.gradient(y, w)
"""
