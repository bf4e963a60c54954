import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
VOCAB, LENGTH, ACCUMULATE = 30, 8, 4
worth = tf.random.normal((VOCAB,))

embedding = keras.layers.Embedding(VOCAB, 16, trainable=False)
head = keras.Sequential([keras.layers.Dense(32, "relu"), keras.layers.Dense(1)])
embedding(tf.zeros((1, LENGTH), tf.int32))
head(tf.zeros((1, 16)))
optimizer = keras.optimizers.Adam(1e-2)
stored = [tf.Variable(tf.zeros_like(v), trainable=False) for v in head.trainable_variables]


def make_batch(n):
    ids = tf.random.uniform((n, LENGTH), 0, VOCAB, tf.int32)
    return ids, tf.reduce_mean(tf.gather(worth, ids), axis=1, keepdims=True)


@tf.function
def accumulate(ids, y):
    with tf.GradientTape() as tape:
        pooled = tf.reduce_mean(embedding(ids), axis=1) * 20.0
        loss = tf.reduce_mean(tf.square(head(pooled) - y))
    for s, g in zip(stored, tape.gradient(loss, head.trainable_variables)):
        s.assign_add(g / ACCUMULATE)
    return loss


@tf.function
def apply():
    optimizer.apply_gradients(zip(stored, head.trainable_variables))
    for s in stored:
        s.assign(tf.zeros_like(s))


for step in range(600):
    loss = accumulate(*make_batch(32))
    if (step + 1) % ACCUMULATE == 0:
        apply()
    if step % 120 == 0:
        print(f"step {step} loss {loss:.5f}")
