import tensorflow as tf
import keras

keras.utils.set_random_seed(2)
BATCH, STEPS, SYMBOLS = 32, 6, 5
bias = tf.constant([2.0, 1.0, 0.0, -1.0, -2.0])


def real_batch():
    ids = tf.random.categorical(tf.tile(bias[None], (BATCH, 1)), STEPS)
    return tf.one_hot(ids, SYMBOLS)


generator = keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(32, "relu"),
                              keras.layers.Dense(STEPS * SYMBOLS), keras.layers.Reshape((STEPS, SYMBOLS)),
                              keras.layers.Softmax()])
critic = keras.Sequential([keras.layers.Input((STEPS, SYMBOLS)), keras.layers.Flatten(),
                           keras.layers.Dense(48, "leaky_relu"), keras.layers.Dense(1)])
opt_g = keras.optimizers.Adam(1e-3, beta_1=0.0, beta_2=0.9)
opt_c = keras.optimizers.Adam(3e-3, beta_1=0.0, beta_2=0.9)


def wasserstein_penalty(real, fake):
    alpha = tf.random.uniform((BATCH, 1, 1))
    mixed = alpha * real + (1.0 - alpha) * fake
    with tf.GradientTape() as tape:
        tape.watch(mixed)
        score = critic(mixed)
    grads = tape.gradient(score, [mixed])
    slopes = tf.sqrt(tf.reduce_sum(tf.square(grads), axis=[1, 2]) + 1e-12)
    return tf.reduce_mean((slopes - 1.0) ** 2)


@tf.function
def train_step():
    real = real_batch()
    noise = tf.random.normal((BATCH, 8))
    with tf.GradientTape() as tape:
        fake = generator(noise)
        gap = tf.reduce_mean(critic(real)) - tf.reduce_mean(critic(fake))
        c_loss = -gap + 10.0 * wasserstein_penalty(real, fake)
    grads = tape.gradient(c_loss, critic.trainable_variables)
    opt_c.apply_gradients(zip(grads, critic.trainable_variables))
    with tf.GradientTape() as tape:
        g_loss = -tf.reduce_mean(critic(generator(noise)))
    opt_g.apply_gradients(zip(tape.gradient(g_loss, generator.trainable_variables),
                              generator.trainable_variables))
    return gap, c_loss


for step in range(301):
    gap, c_loss = train_step()
    if step % 60 == 0:
        x = real_batch()
        with tf.GradientTape() as tape:
            tape.watch(x)
            score = critic(x)
        slope = tf.reduce_mean(tf.norm(tf.reshape(tape.gradient(score, x), (BATCH, -1)), axis=1))
        print(f"step {step} gap {gap:.4f} critic {c_loss:.3f} slope {slope:.4f}")
