import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
FRAMES, PIXELS, NOISE = 3, 12, 4


def make_batch(n):
    amplitude = tf.random.uniform((n, 1), 0.5, 1.5)
    phase = tf.random.uniform((n, 1), 0.0, 6.28)
    grid = tf.range(PIXELS, dtype=tf.float32)[None, :] * 0.5
    frames = [amplitude * tf.sin(grid + phase + 0.4 * t) for t in range(FRAMES)]
    context = tf.concat(frames[:2], axis=1)
    return context, frames[2]


generator = keras.Sequential([keras.layers.Input((2 * PIXELS + NOISE,)), keras.layers.Dense(48, "relu"),
                              keras.layers.Dense(PIXELS)])
discriminator = keras.Sequential([keras.layers.Input((3 * PIXELS,)), keras.layers.Dense(48, "leaky_relu"),
                                  keras.layers.Dense(1)])
opt_g = keras.optimizers.Adam(1e-3, beta_1=0.5)
opt_d = keras.optimizers.Adam(2e-3, beta_1=0.5)


def hinge_disc(real_score, fake_score):
    return tf.reduce_mean(tf.nn.relu(1.0 - real_score)) + tf.reduce_mean(tf.nn.relu(1.0 + fake_score))


def hinge_gen(score):
    return -tf.reduce_mean(score)


@tf.function
def train_step(context, target):
    noise = tf.random.normal((tf.shape(context)[0], NOISE))
    with tf.GradientTape() as d_tape, tf.GradientTape() as g_tape:
        predicted = generator(tf.concat([context, noise], axis=1), training=True)
        real_sequence = tf.concat([context, target], axis=1)
        generated_sequence = tf.concat([context, predicted], axis=1)
        d_loss = hinge_disc(discriminator(real_sequence, training=True),
                            discriminator(generated_sequence, training=True))
        g_loss = hinge_gen(discriminator(generated_sequence, training=True))
    d_grads = d_tape.gradient(d_loss, discriminator.trainable_variables)
    g_grads = g_tape.gradient(g_loss, generator.trainable_variables)
    opt_d.apply_gradients(zip(d_grads, discriminator.trainable_variables))
    opt_g.apply_gradients(zip(g_grads, generator.trainable_variables))
    return d_loss, g_loss, tf.reduce_mean(tf.abs(predicted - target))


for step in range(301):
    context, target = make_batch(64)
    d_loss, g_loss, error = train_step(context, target)
    if step % 60 == 0:
        print(f"step {step} d {d_loss:.3f} g {g_loss:.3f} error {error:.3f}")
