"""TensorFlow and Keras programs whose mistakes show in the run: in the loss, in an error or in what is trained.

:mod:`torch_cases` describes the format. The shared first lines are in :mod:`test_program_runs`.
"""

CASES = """
#@ the_loss_is_nan_though_its_gradients_are_finite nonfinite_value
w = tf.Variable([0.0, 1.0, 2.0])
with tf.GradientTape() as tape:
    penalty = tf.math.log(tf.constant(-1.0))  #!  #- penalty = tf.math.log(tf.constant(8.0))
    loss = tf.reduce_mean((w - 1.5) ** 2) + penalty
print(tape.gradient(loss, w), loss)
#@ the_call_that_raised_is_explained_and_no_other target_not_tensor
a, b = tf.Variable(1.0), tf.Variable(1.0)
early = a * a  #- early = 2.0
with tf.GradientTape() as tape:
    loss = b * early
    number = float(loss)  #- number = loss
tape.gradient(number, b)
#@ a_variable_that_its_layer_does_not_track not_optimized
import keras
class Gain(keras.layers.Layer):
    def build(self, shape):
        self.gain = tf.Variable(tf.ones(shape[-1:]))  #!  #- self.gain = self.add_weight(shape=shape[-1:])
    def call(self, x):
        return x * self.gain
model = keras.Sequential([Gain(), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(np.ones((16, 3), "float32"), np.ones((16, 1), "float32"), epochs=2, verbose=0)
#@ a_variable_that_is_not_to_be_trained connected
import keras
class Gain(keras.layers.Layer):
    def build(self, shape):
        self.gain = tf.Variable(tf.ones(shape[-1:]), trainable=False)
    def call(self, x):
        return x * self.gain
model = keras.Sequential([Gain(), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(np.ones((16, 3), "float32"), np.ones((16, 1), "float32"), epochs=2, verbose=0)
#@ a_variable_that_the_program_assigns connected
import keras
class Gain(keras.layers.Layer):
    def build(self, shape):
        self.gain = tf.Variable(tf.ones(shape[-1:]))
    def call(self, x):
        return x * self.gain
layer = Gain()
model = keras.Sequential([layer, keras.layers.Dense(1)])
model.compile("sgd", "mse")
for _ in range(2):
    model.fit(np.ones((16, 3), "float32"), np.ones((16, 1), "float32"), verbose=0)
    layer.gain.assign([2.0, 2.0, 2.0])
"""
