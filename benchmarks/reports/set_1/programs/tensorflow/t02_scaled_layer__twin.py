import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)


class RadialBasis(keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.units = units

    def build(self, input_shape):
        start = tf.random.normal((self.units, input_shape[-1]))
        self.centers = self.add_weight(shape=(self.units, input_shape[-1]), initializer="random_normal", name="centers")
        self.log_width = self.add_weight(shape=(self.units,), initializer="zeros", name="log_width")

    def call(self, x):
        distance = tf.reduce_sum((x[:, None] - self.centers[None]) ** 2, -1)
        return tf.exp(-distance * tf.exp(self.log_width))


x = np.random.uniform(-2, 2, size=(400, 2)).astype("float32")
y = (np.hypot(x[:, 0] - 0.5, x[:, 1]) < 1).astype("float32")
model = keras.Sequential([RadialBasis(6), keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer=keras.optimizers.Adam(3e-2), loss="binary_crossentropy", metrics=["accuracy"])
history = model.fit(x, y, epochs=12, batch_size=100, verbose=0)
print([round(v, 3) for v in history.history["loss"]][::3])
print("trainable:", [v.path for v in model.trainable_variables])
