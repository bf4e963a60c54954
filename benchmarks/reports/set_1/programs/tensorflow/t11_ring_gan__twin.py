import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
generator = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(2)])
discriminator = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
generator.build((None, 4))
discriminator.build((None, 2))
g_opt, d_opt = keras.optimizers.Adam(2e-3), keras.optimizers.Adam(2e-3)
bce = keras.losses.BinaryCrossentropy(from_logits=True)
start = [w.numpy() for w in generator.trainable_variables]

for step in range(40):
    angle = np.random.uniform(0, 2 * np.pi, 64)
    real = np.stack([np.cos(angle), np.sin(angle)], 1).astype("float32")
    noise = tf.random.normal((64, 4))
    with tf.GradientTape() as g_tape, tf.GradientTape() as d_tape:
        fake = generator(noise, training=True)
        real_score, fake_score = discriminator(real), discriminator(fake)
        g_loss = bce(tf.ones_like(fake_score), fake_score)
        d_loss = bce(tf.ones_like(real_score), real_score) + bce(tf.zeros_like(fake_score), fake_score)
    g_grads = g_tape.gradient(g_loss, generator.trainable_variables)
    d_grads = d_tape.gradient(d_loss, discriminator.trainable_variables)
    g_opt.apply_gradients(zip(g_grads, generator.trainable_variables))
    d_opt.apply_gradients(zip(d_grads, discriminator.trainable_variables))
    if step % 10 == 9:
        print(step + 1, f"g {float(g_loss):.3f} d {float(d_loss):.3f}")
print("generator moved", max(np.abs(a - b.numpy()).max() for a, b in zip(start, generator.trainable_variables)))
