import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(47)
rng = np.random.default_rng(47)
N, T = 500, 10
lengths = rng.integers(3, 9, size=N)
ids = rng.integers(2, 30, size=(N, T))
ids[np.arange(T)[None, :] >= lengths[:, None]] = 0
weight_of = rng.normal(size=30)
weight_of[0] = 0.0
y = (weight_of[ids].sum(axis=1) / lengths > 0).astype("float32")


class Encoder(keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = layers.Embedding(30, 16)
        self.attend = layers.MultiHeadAttention(num_heads=2, key_dim=8)
        self.query = layers.Embedding(1, 16)
        self.head = layers.Dense(1)

    def call(self, tokens):
        h = self.embed(tokens)
        q = tf.tile(self.query(tf.zeros((1, 1), tf.int32)), [tf.shape(tokens)[0], 1, 1])
        padding = tf.not_equal(tokens, 0)[:, tf.newaxis, :]
        pooled = self.attend(q, h, attention_mask=padding)
        return self.head(pooled[:, 0])


model = Encoder()
model.compile(
    optimizer=keras.optimizers.Adam(0.01),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[keras.metrics.BinaryAccuracy(threshold=0.0)])
history = model.fit(ids, y, epochs=12, batch_size=50, verbose=0)
for epoch in range(0, 12, 3):
    print("epoch", epoch, "loss", history.history["loss"][epoch])
print("final loss", history.history["loss"][-1], "accuracy", history.history["binary_accuracy"][-1])
