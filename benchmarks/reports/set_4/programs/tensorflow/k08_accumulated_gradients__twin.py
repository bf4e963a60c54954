import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
ACCUMULATE = 4

x_all = rng.normal(0, 1, (1024, 12)).astype("float32")
y_all = (np.sin(x_all[:, :1] * 2) + x_all[:, 1:2] * x_all[:, 2:3]).astype("float32")
dataset = tf.data.Dataset.from_tensor_slices((x_all, y_all)).shuffle(1024, seed=0).batch(16)

model = keras.Sequential(
    [keras.Input((12,)), layers.Dense(64, activation="tanh"), layers.Dense(64, activation="tanh"), layers.Dense(1)]
)
optimizer = keras.optimizers.SGD(0.05)
loss_fn = keras.losses.MeanSquaredError()
accumulated = [tf.Variable(tf.zeros_like(v), trainable=False) for v in model.trainable_variables]


@tf.function
def accumulate_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True)) / ACCUMULATE
    gradients = tape.gradient(loss, model.trainable_variables)
    for buffer, gradient in zip(accumulated, gradients):
        buffer.assign_add(gradient)
    return loss * ACCUMULATE


@tf.function
def apply_step():
    optimizer.apply_gradients(zip(accumulated, model.trainable_variables))
    for buffer in accumulated:
        buffer.assign(tf.zeros_like(buffer))


for epoch in range(6):
    losses = []
    for i, (x, y) in enumerate(dataset):
        losses.append(float(accumulate_step(x, y)))
        if (i + 1) % ACCUMULATE == 0:
            apply_step()
    print(f"epoch {epoch} loss {np.mean(losses):.4f}")
