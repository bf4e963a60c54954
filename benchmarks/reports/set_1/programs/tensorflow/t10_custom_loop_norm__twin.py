import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
x = (20.0 + 6.0 * np.random.normal(size=(400, 5))).astype("float32")
y = (x[:, 0] > x[:, 1]).astype("int64")
model = keras.Sequential([
    keras.layers.BatchNormalization(),
    keras.layers.Dense(32, activation="relu"),
    keras.layers.BatchNormalization(),
    keras.layers.Dense(2),
])
optimizer = keras.optimizers.SGD(0.05)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def train_step(images, labels):
    with tf.GradientTape() as tape:
        logits = model(images, training=True)
        loss = loss_fn(labels, logits)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(50):
    rows = np.random.randint(0, 400, 64)
    loss = train_step(x[rows], y[rows])
    if step % 10 == 9:
        print(step + 1, float(loss))
print("moving mean", model.layers[0].moving_mean.numpy())
