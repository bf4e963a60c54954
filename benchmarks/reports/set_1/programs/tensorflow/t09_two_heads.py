import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
x = np.random.normal(size=(128, 8)).astype("float32")
size = (x[:, :1] ** 2).astype("float32")
kind = (x[:, 1] > 0).astype("float32")[:, None]
trunk = keras.Sequential([keras.layers.Dense(32, activation="relu")])
regressor, classifier = keras.layers.Dense(1), keras.layers.Dense(1)
opt_a, opt_b = keras.optimizers.Adam(1e-2), keras.optimizers.Adam(1e-2)
bce = keras.losses.BinaryCrossentropy(from_logits=True)

for step in range(30):
    with tf.GradientTape() as tape:
        hidden = trunk(x)
        size_loss = tf.reduce_mean((regressor(hidden) - size) ** 2)
        kind_loss = bce(kind, classifier(hidden))
    size_vars = trunk.trainable_variables + regressor.trainable_variables
    kind_vars = classifier.trainable_variables
    opt_a.apply_gradients(zip(tape.gradient(size_loss, size_vars), size_vars))
    opt_b.apply_gradients(zip(tape.gradient(kind_loss, kind_vars), kind_vars))
    if step % 10 == 9:
        print(step + 1, float(size_loss), float(kind_loss))
