import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(0)
keras.mixed_precision.set_global_policy("mixed_float16")
rng = np.random.default_rng(0)

x = rng.normal(0, 1, (512, 16)).astype("float32")
y = (np.abs(x[:, :4]).sum(1, keepdims=True) - 3).astype("float32")

inputs = keras.Input((16,))
h = layers.Dense(32, activation="relu")(inputs)
h = layers.Dense(32, activation="relu")(h)
h = layers.Dense(1)(h)
outputs = layers.Activation("linear", dtype="float32")(h)
model = keras.Model(inputs, outputs)

optimizer = keras.mixed_precision.LossScaleOptimizer(
    keras.optimizers.SGD(0.05, momentum=0.9), initial_scale=2.0**12
)
optimizer.build(model.trainable_variables)
loss_object = keras.losses.MeanSquaredError()
dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(512, seed=0).batch(64)


@tf.function
def train_step(xb, yb):
    with tf.GradientTape() as tape:
        predictions = model(xb, training=True)
        loss = loss_object(yb, predictions)
        scaled_loss = loss
    gradients = tape.gradient(scaled_loss, model.trainable_variables)
    optimizer.apply(gradients, model.trainable_variables)
    return loss


for epoch in range(8):
    losses = [float(train_step(xb, yb)) for xb, yb in dataset]
    print(f"epoch {epoch} loss {np.mean(losses):.4f}")
