import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)


class Projection(keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.units = units

    def call(self, x):
        return keras.layers.Dense(self.units, activation="tanh")(x)


x = np.random.normal(size=(200, 6)).astype("float32")
y = np.tanh(x[:, :1] - x[:, 2:3]).astype("float32")
projection, head = Projection(24), keras.layers.Dense(1)
optimizer = keras.optimizers.Adam(1e-2)
for step in range(40):
    with tf.GradientTape() as tape:
        prediction = head(projection(x))
        loss = tf.reduce_mean((prediction - y) ** 2)
    variables = projection.trainable_variables + head.trainable_variables
    grads = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(grads, variables))
    if step % 10 == 9:
        print(step + 1, float(loss), len(variables))
