import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
signal = np.zeros((200, 40), "float32")
position = np.random.randint(8, 24, 200)
for row, p in enumerate(position):
    signal[row, p:p + 8] = np.random.choice([-1.0, 1.0])
label = (signal.sum(1) > 0).astype("int64")
signal += 0.2 * np.random.normal(size=signal.shape).astype("float32")

locator = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
reader = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(2)])
optimizer = keras.optimizers.Adam(5e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def crop(x, start):
    place = start + tf.range(8.0)[None]
    weight = tf.nn.relu(1.0 - tf.abs(place[:, :, None] - tf.range(40.0)[None, None]))
    return tf.reduce_sum(weight * x[:, None], axis=-1)


for step in range(40):
    with tf.GradientTape() as tape:
        start = 32.0 * tf.sigmoid(locator(signal))
        loss = loss_fn(label, reader(crop(signal, start)))
    variables = locator.trainable_variables + reader.trainable_variables
    grads = tape.gradient(loss, variables)
    optimizer.apply_gradients([(g, v) for g, v in zip(grads, variables) if g is not None])
    if step % 10 == 9:
        print(step + 1, float(loss))
