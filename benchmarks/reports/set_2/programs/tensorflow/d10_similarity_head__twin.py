import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(9)
rng = np.random.default_rng(9)
centers = rng.normal(size=(6, 12))
labels = rng.integers(0, 6, size=600)
vectors = (centers[labels] + 0.4 * rng.normal(size=(600, 12))).astype("float32")


class CosineHead(keras.layers.Layer):
    def __init__(self, classes):
        super().__init__()
        self.classes = classes
        self.log_scale = self.add_weight(shape=(), initializer="zeros", name="log_scale")

    def build(self, shape):
        self.prototypes = self.add_weight(shape=(shape[-1], self.classes), initializer="glorot_uniform")

    def call(self, x):
        x = tf.math.l2_normalize(x, axis=-1)
        w = tf.math.l2_normalize(self.prototypes, axis=0)
        return tf.exp(self.log_scale) * tf.matmul(x, w)


model = keras.Sequential([
    keras.Input((12,)),
    keras.layers.Dense(24, activation="tanh"),
    CosineHead(6),
])
model.compile(
    optimizer=keras.optimizers.Adam(0.02),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"])
history = model.fit(vectors, labels, epochs=25, batch_size=50, verbose=0)
for epoch in range(0, 25, 6):
    print("epoch", epoch, "loss", history.history["loss"][epoch])
print("final loss", history.history["loss"][-1], "scale", float(tf.exp(model.layers[-1].log_scale)))
