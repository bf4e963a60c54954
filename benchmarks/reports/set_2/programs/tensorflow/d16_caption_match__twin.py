import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(23)
rng = np.random.default_rng(23)
shared = rng.normal(size=(300, 4)).astype("float32")
image_feats = np.tanh(shared @ rng.normal(size=(4, 16)).astype("float32"))
text_feats = np.tanh(shared @ rng.normal(size=(4, 10)).astype("float32"))

image_tower = keras.Sequential([
    keras.Input((16,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(6)])
text_tower = keras.Sequential([
    keras.Input((10,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(6)])
variables = image_tower.trainable_variables + text_tower.trainable_variables
optimizer = keras.optimizers.Adam(0.005)


@tf.function
def train_step(images, texts):
    with tf.GradientTape() as tape:
        a = image_tower(images, training=True)
        b = text_tower(texts, training=True)
        similarity = keras.losses.cosine_similarity(a, b, axis=-1)
        shuffled = keras.losses.cosine_similarity(a, tf.roll(b, 1, axis=0), axis=-1)
        loss = tf.reduce_mean(1.0 + similarity)
        loss += tf.reduce_mean(tf.square(shuffled))
    grads = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(grads, variables))
    return loss


for epoch in range(12):
    order = rng.permutation(300)
    losses = []
    for i in range(0, 300, 30):
        rows = order[i:i + 30]
        losses.append(float(train_step(tf.constant(image_feats[rows]), tf.constant(text_feats[rows]))))
    if epoch % 3 == 0 or epoch == 11:
        print("epoch", epoch, "loss", np.mean(losses))
a = tf.math.l2_normalize(image_tower(image_feats), axis=-1)
b = tf.math.l2_normalize(text_tower(text_feats), axis=-1)
print("true cosine of matched pairs", float(tf.reduce_mean(tf.reduce_sum(a * b, axis=-1))))
