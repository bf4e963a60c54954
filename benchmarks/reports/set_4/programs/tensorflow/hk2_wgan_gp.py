import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(0)
gen = keras.Sequential([keras.Input((4,)), layers.Dense(32, activation="relu"), layers.Dense(2)])
critic = keras.Sequential([keras.Input((2,)), layers.Dense(32, activation="tanh"), layers.Dense(32, activation="tanh"), layers.Dense(1)])
g_opt = keras.optimizers.Adam(1e-3, beta_1=0.0, beta_2=0.9)
c_opt = keras.optimizers.Adam(1e-3, beta_1=0.0, beta_2=0.9)


def penalty(real, fake):
    mix = tf.random.uniform([tf.shape(real)[0], 1])
    point = mix * real + (1 - mix) * fake
    with tf.GradientTape() as inner:
        inner.watch(point)
        score = critic(point)
    slope = inner.gradient(score, point)
    norm = tf.sqrt(tf.reduce_sum(slope**2, axis=1) + 1e-12)
    return tf.reduce_mean((norm - 1.0) ** 2)


@tf.function
def critic_step(real):
    fake = gen(tf.random.normal([tf.shape(real)[0], 4]))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(critic(fake)) - tf.reduce_mean(critic(real)) + 10 * penalty(real, fake)
    c_opt.apply_gradients(zip(tape.gradient(loss, critic.trainable_variables), critic.trainable_variables))
    return loss


@tf.function
def generator_step(n):
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(critic(gen(tf.random.normal([n, 4]))))
    g_opt.apply_gradients(zip(tape.gradient(loss, gen.trainable_variables), gen.trainable_variables))
    return loss


rng = np.random.default_rng(0)
for i in range(120):
    real = (rng.normal(0, 0.3, (64, 2)) + [1.0, -1.0]).astype("float32")
    c = critic_step(tf.constant(real))
    if i % 3 == 2:
        g = generator_step(64)
    if i % 30 == 29:
        print(i, float(c), float(g))
