import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
x = (np.random.normal(size=(200, 2)) @ np.random.normal(size=(2, 10))).astype("float32")
encoder = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(2)])
decoder = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(10)])
optimizer = keras.optimizers.Adam(1e-2)

for step in range(60):
    with tf.GradientTape() as tape:
        latent = tf.Variable(encoder(x))
        latent.assign(tf.clip_by_value(latent, -5.0, 5.0))
        loss = tf.reduce_mean((decoder(latent) - x) ** 2)
    variables = encoder.trainable_variables + decoder.trainable_variables
    grads = tape.gradient(loss, variables)
    optimizer.apply_gradients([(g, v) for g, v in zip(grads, variables) if g is not None])
    if step % 15 == 14:
        print(step + 1, float(loss))
