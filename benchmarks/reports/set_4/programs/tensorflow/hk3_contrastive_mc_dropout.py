import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
# SimCSE: the two views of a sample are two dropout masks, so dropout stays on.
encoder = keras.Sequential(
    [keras.Input((16,)), layers.Dense(64, activation="relu"), layers.Dropout(0.2), layers.Dense(16)]
)
optimizer = keras.optimizers.Adam(2e-3)
data = rng.normal(0, 1, (512, 16)).astype("float32")


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        a = tf.math.l2_normalize(encoder(x, training=True), axis=1)
        b = tf.math.l2_normalize(encoder(x, training=True), axis=1)
        logits = tf.matmul(a, b, transpose_b=True) / 0.1
        labels = tf.range(tf.shape(x)[0])
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        )
    gradients = tape.gradient(loss, encoder.trainable_variables)
    optimizer.apply_gradients(zip(gradients, encoder.trainable_variables))
    return loss


for epoch in range(5):
    for i in range(0, 512, 64):
        loss = train_step(tf.constant(data[i : i + 64]))
    print(f"epoch {epoch} loss {float(loss):.4f}")
samples = np.stack([encoder(data[:8], training=True).numpy() for _ in range(20)])
print("uncertainty", samples.std(0).mean())
