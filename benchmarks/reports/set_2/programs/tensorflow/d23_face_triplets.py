import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(41)
rng = np.random.default_rng(41)
centers = 0.8 * rng.normal(size=(5, 10))
people = rng.integers(0, 5, size=400)
faces = (centers[people] + rng.normal(size=(400, 10))).astype("float32")

embedder = keras.Sequential([
    keras.Input((10,)),
    keras.layers.Dense(32, activation="relu"),
    keras.layers.Dense(8),
])
optimizer = keras.optimizers.Adam(0.003)


def euclidean(left, right):
    squared = tf.reduce_sum(tf.square(left - right), axis=-1)
    return tf.sqrt(squared)


@tf.function
def train_step(anchor, positive, negative):
    with tf.GradientTape() as tape:
        a, p, n = [embedder(v, training=True) for v in (anchor, positive, negative)]
        loss = tf.reduce_mean(tf.nn.relu(euclidean(a, p) - euclidean(a, n) + 2.0))
    grads = tape.gradient(loss, embedder.trainable_variables)
    optimizer.apply_gradients(zip(grads, embedder.trainable_variables))
    return loss


members = [np.flatnonzero(people == k) for k in range(5)]
for step in range(150):
    rows = rng.choice(400, 32, replace=False)
    same = np.array([rng.choice(members[people[r]]) for r in rows])
    other = np.array([rng.choice(members[(people[r] + rng.integers(1, 5)) % 5]) for r in rows])
    loss = train_step(*[tf.constant(faces[i]) for i in (rows, same, other)])
    if step % 30 == 0 or step == 149:
        print(step, "triplet loss", float(loss))
