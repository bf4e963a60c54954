import tensorflow as tf
import keras

keras.utils.set_random_seed(4)
DIM, OUT = 10, 8
user_map = tf.random.normal((DIM, OUT)) * 0.4
item_map = tf.random.normal((DIM, OUT)) * 0.4


def make_batch(n):
    users = tf.random.normal((n, DIM))
    items = tf.random.normal((n, DIM)) + 0.5
    affinity = tf.reduce_sum((users @ user_map) * (items @ item_map), axis=1)
    return users, items, tf.cast(affinity > 0, tf.float32)


def tower(name):
    return keras.Sequential([keras.layers.Input((DIM,)), keras.layers.Dense(32, "tanh"),
                             keras.layers.Dense(OUT)], name=name)


user_tower, item_tower = tower("user"), tower("item")
optimizer = keras.optimizers.Adam(3e-3)
bce = keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def train_step(users, items, clicked):
    with tf.GradientTape() as tape:
        logits = tf.reduce_sum(user_tower(users) * item_tower(items), axis=1)
        loss = bce(clicked, logits)
    grads = tape.gradient(loss, user_tower.trainable_variables + item_tower.trainable_variables)
    optimizer.apply_gradients(zip(grads, user_tower.trainable_variables + item_tower.trainable_variables))
    hits = tf.reduce_mean(tf.cast((logits > 0) == (clicked > 0.5), tf.float32))
    return loss, hits


for step in range(401):
    loss, hits = train_step(*make_batch(128))
    if step % 80 == 0:
        print(f"step {step} loss {loss:.4f} accuracy {hits:.3f}")
