import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(0)
NOISE, BATCH = 6, 64


def make_generator():
    return keras.Sequential(
        [keras.Input((NOISE,)), layers.Dense(32, activation="relu"), layers.Dense(32, activation="relu"), layers.Dense(2)]
    )


def make_discriminator():
    return keras.Sequential(
        [keras.Input((2,)), layers.Dense(32), layers.LeakyReLU(), layers.Dense(32), layers.LeakyReLU(), layers.Dense(1)]
    )


generator, discriminator = make_generator(), make_discriminator()
cross_entropy = keras.losses.BinaryCrossentropy(from_logits=True)
generator_optimizer = keras.optimizers.Adam(1e-3, beta_1=0.5)
discriminator_optimizer = keras.optimizers.Adam(1e-3, beta_1=0.5)


def discriminator_loss(real_output, fake_output):
    real = cross_entropy(tf.ones_like(real_output), real_output)
    fake = cross_entropy(tf.zeros_like(fake_output), fake_output)
    return real + fake


@tf.function
def train_step(points):
    noise = tf.random.normal([BATCH, NOISE])
    with tf.GradientTape() as gen_tape, tf.GradientTape() as disc_tape:
        generated = generator(noise, training=True)
        real_output = discriminator(points, training=True)
        fake_output = discriminator(generated, training=True)
        gen_loss = cross_entropy(tf.ones_like(fake_output), fake_output)
        disc_loss = discriminator_loss(real_output, fake_output)
    gen_grads = gen_tape.gradient(gen_loss, generator.trainable_variables)
    disc_grads = disc_tape.gradient(gen_loss, discriminator.trainable_variables)
    generator_optimizer.apply_gradients(zip(gen_grads, generator.trainable_variables))
    discriminator_optimizer.apply_gradients(zip(disc_grads, discriminator.trainable_variables))
    return gen_loss, disc_loss


rng = np.random.default_rng(0)
points = (rng.normal(0, 0.2, (1024, 2)) + np.array([2.0, -1.0])).astype("float32")
dataset = tf.data.Dataset.from_tensor_slices(points).shuffle(1024, seed=1).batch(BATCH)
for epoch in range(10):
    for batch in dataset:
        g, d = train_step(batch)
    sample = generator(tf.random.normal([256, NOISE])).numpy()
    print(f"epoch {epoch} gen {float(g):.3f} disc {float(d):.3f} mean {sample.mean(0).round(2)}")
