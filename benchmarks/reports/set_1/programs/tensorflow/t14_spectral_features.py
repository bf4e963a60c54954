import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)


def magnitude(frames):
    return np.abs(np.fft.rfft(frames, axis=-1)).astype("float32")


class Spectrum(keras.layers.Layer):
    def call(self, x):
        out = tf.numpy_function(magnitude, [x], tf.float32)
        out.set_shape((x.shape[0], 17))
        return out


front = keras.layers.Dense(32, use_bias=False)
spectrum = Spectrum()
head = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(2)])
optimizer = keras.optimizers.Adam(1e-2)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
t = np.arange(32)
y = np.random.randint(0, 2, 120)
x = (np.sin(2 * np.pi * (3 + y[:, None]) * t / 32 + np.random.rand(120, 1)) + 0.3 * np.random.normal(size=(120, 32))).astype("float32")

for step in range(40):
    with tf.GradientTape() as tape:
        logits = head(spectrum(front(x)))
        loss = loss_fn(y, logits)
    variables = front.trainable_variables + head.trainable_variables
    grads = tape.gradient(loss, variables)
    optimizer.apply_gradients([(g, v) for g, v in zip(grads, variables) if g is not None])
    if step % 10 == 9:
        print(step + 1, float(loss))
