import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(3)
rng = np.random.default_rng(3)
basis = rng.normal(size=(2, 12)).astype("float32")
signals = np.tanh(rng.normal(size=(256, 2)).astype("float32") @ basis)

encoder = keras.Sequential([
    keras.Input((12,)),
    keras.layers.Dense(16, activation="relu"),
    keras.layers.Dense(2),
])
decoder = keras.Sequential([
    keras.Input((2,)),
    keras.layers.Dense(16, activation="relu"),
    keras.layers.Dense(12),
])
variables = encoder.trainable_variables + decoder.trainable_variables
optimizer = keras.optimizers.Adam(0.01)


def train_batch(batch):
    with tf.GradientTape() as tape:
        code = encoder(batch, training=True)
        reconstruction = decoder(code, training=True)
        loss = tf.reduce_mean(tf.square(batch - reconstruction))
        loss += 1e-3 * tf.reduce_mean(tf.square(code))
    grads = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(grads, variables))
    return loss


before = [w.numpy().copy() for w in encoder.trainable_variables]
for epoch in range(12):
    order = rng.permutation(256)
    losses = [float(train_batch(tf.constant(signals[order[i:i + 32]]))) for i in range(0, 256, 32)]
    if epoch % 3 == 0 or epoch == 11:
        print("epoch", epoch, "loss", np.mean(losses))
moved = max(float(np.abs(a - w.numpy()).max()) for a, w in zip(before, encoder.trainable_variables))
print("encoder moved by", moved)
