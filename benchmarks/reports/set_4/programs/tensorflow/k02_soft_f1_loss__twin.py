import numpy as np
import keras
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(1)
rng = np.random.default_rng(1)


def f1_loss(y_true, y_pred):
    tp = tf.reduce_sum(y_true * y_pred, axis=0)
    fp = tf.reduce_sum((1 - y_true) * y_pred, axis=0)
    fn = tf.reduce_sum(y_true * (1 - y_pred), axis=0)
    precision = tp / (tp + fp + keras.config.epsilon())
    recall = tp / (tp + fn + keras.config.epsilon())
    f1 = 2 * precision * recall / (precision + recall + keras.config.epsilon())
    return 1 - tf.reduce_mean(f1)


n, n_tags = 600, 4
words = rng.integers(0, 2, (n, 30)).astype("float32")
weights = rng.normal(0, 1, (30, n_tags))
tags = (words @ weights > 1.0).astype("float32")

inputs = keras.Input(shape=(30,))
h = layers.Dense(64, activation="relu")(inputs)
h = layers.Dropout(0.2)(h)
outputs = layers.Dense(n_tags, activation="sigmoid")(h)
model = keras.Model(inputs, outputs)
optimizer = keras.optimizers.Adam(2e-3)
dataset = tf.data.Dataset.from_tensor_slices((words, tags)).shuffle(600, seed=0).batch(50)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        prediction = model(x, training=True)
        loss = f1_loss(y, prediction)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


for epoch in range(6):
    mean_loss = keras.metrics.Mean()
    for x, y in dataset:
        mean_loss.update_state(train_step(x, y))
    print(f"epoch {epoch} f1 loss {float(mean_loss.result()):.4f}")
