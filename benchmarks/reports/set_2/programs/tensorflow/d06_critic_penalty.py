import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(13)
rng = np.random.default_rng(13)


def mlp(width_in, width_out):
    return keras.Sequential([
        keras.Input((width_in,)),
        keras.layers.Dense(32, activation="leaky_relu"),
        keras.layers.Dense(32, activation="leaky_relu"),
        keras.layers.Dense(width_out),
    ])


generator, critic = mlp(4, 2), mlp(2, 1)
g_opt = keras.optimizers.Adam(1e-3, beta_1=0.5)
c_opt = keras.optimizers.Adam(2e-3, beta_1=0.5)


def slope_penalty(real, fake):
    alpha = tf.random.uniform((real.shape[0], 1))
    mixed = alpha * real + (1.0 - alpha) * fake
    with tf.GradientTape() as tape:
        tape.watch(mixed)
        score = critic(mixed, training=True)
    slopes = tape.gradient(score, mixed)
    norm = tf.sqrt(tf.reduce_sum(tf.square(slopes), axis=1) + 1e-12)
    return tf.reduce_mean(tf.square(norm - 1.0))


@tf.function
def critic_step(real):
    fake = generator(tf.random.normal((real.shape[0], 4)), training=True)
    penalty = slope_penalty(real, fake)
    with tf.GradientTape() as tape:
        gap = tf.reduce_mean(critic(fake, training=True)) - tf.reduce_mean(critic(real, training=True))
        loss = gap + 10.0 * penalty
    grads = tape.gradient(loss, critic.trainable_variables)
    c_opt.apply_gradients(zip(grads, critic.trainable_variables))
    return loss, penalty


@tf.function
def generator_step():
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(critic(generator(tf.random.normal((64, 4)), training=True)))
    grads = tape.gradient(loss, generator.trainable_variables)
    g_opt.apply_gradients(zip(grads, generator.trainable_variables))
    return loss


for step in range(200):
    angle = rng.uniform(0, 2 * np.pi, 64)
    real = np.stack([2 + np.cos(angle), np.sin(angle)], axis=1).astype("float32")
    for _ in range(2):
        c_loss, penalty = critic_step(tf.constant(real))
    g_loss = generator_step()
    if step % 40 == 0 or step == 199:
        print(step, "critic", float(c_loss), "penalty", float(penalty), "generator", float(g_loss))
