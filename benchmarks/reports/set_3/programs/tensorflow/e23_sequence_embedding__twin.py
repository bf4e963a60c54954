import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(1)
rng = np.random.default_rng(1)
VOCAB, LENGTH, N = 4, 3, 384

anchor = rng.integers(0, VOCAB, (N, LENGTH))
positive = anchor.copy()
rows = np.arange(N)
positive[rows, rng.integers(0, LENGTH, N)] = rng.integers(0, VOCAB, N)
negative = rng.integers(0, VOCAB, (N, LENGTH))
triplets = np.stack([anchor, positive, negative], axis=1)


class TripletModel(keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = keras.layers.Embedding(VOCAB, 8)
        self.body = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(32, "tanh"),
                                      keras.layers.Dense(8)])

    def call(self, triplets):
        parts = [self.body(self.embed(triplets[:, i])) for i in range(3)]
        return tf.stack(parts, axis=1)


def distance(a, b):
    square = tf.reduce_sum(tf.square(a - b), axis=-1)
    return tf.sqrt(tf.maximum(square, 1e-9))


def triplet_loss(_, parts):
    near = distance(parts[:, 0], parts[:, 1])
    far = distance(parts[:, 0], parts[:, 2])
    return tf.reduce_mean(tf.nn.relu(near - far + 0.5))


model = TripletModel()
model.compile(optimizer=keras.optimizers.Adam(5e-3), loss=triplet_loss)
history = model.fit(triplets, np.zeros((N, 1)), epochs=12, batch_size=64, verbose=0)
for epoch in range(0, 12, 3):
    print(f"epoch {epoch} loss {history.history['loss'][epoch]:.4f}")
print("largest weight", max(float(np.abs(w).max()) for w in model.get_weights()))
