import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(4)
np.random.seed(4)
STEPS, DIM = 10, 4
alpha_bar = np.cumprod(np.linspace(0.98, 0.55, STEPS)).astype("float32")
points = np.random.normal(size=(64 * 16, DIM)).astype("float32") * 0.3 + 1.0

time_embed = keras.layers.Embedding(STEPS, 8)
body = keras.Sequential([
    keras.Input((DIM + 8,)),
    keras.layers.Dense(48, activation="relu"),
    keras.layers.Dense(DIM),
])
time_embed.build()
variables = time_embed.trainable_variables + body.trainable_variables
optimizer = keras.optimizers.Adam(0.005)
alpha_table = tf.constant(alpha_bar)


def predict_noise(noisy, t):
    return body(tf.concat([noisy, time_embed(t)], axis=-1))


@tf.function
def train_step(clean):
    n = clean.shape[0]
    t = np.random.randint(0, STEPS, size=(1,)).repeat(n)
    a = tf.gather(alpha_table, t)[:, None]
    noise = tf.random.normal((n, DIM))
    noisy = tf.sqrt(a) * clean + tf.sqrt(1.0 - a) * noise
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(predict_noise(noisy, t) - noise))
    grads = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(grads, variables))
    return loss


table_start = time_embed.embeddings.numpy().copy()
for epoch in range(20):
    losses = [float(train_step(tf.constant(points[i:i + 64]))) for i in range(0, len(points), 64)]
    if epoch % 5 == 0:
        print("epoch", epoch, "loss", np.mean(losses))

for t in range(STEPS):
    a = alpha_bar[t]
    noise = np.random.normal(size=points.shape).astype("float32")
    noisy = np.sqrt(a) * points + np.sqrt(1 - a) * noise
    out = predict_noise(tf.constant(noisy), tf.fill((len(points),), t))
    moved = float(np.abs(time_embed.embeddings.numpy()[t] - table_start[t]).max())
    print("t", t, "mse", float(np.mean((out.numpy() - noise) ** 2)), "row moved", moved)
