import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
x = np.random.normal(size=(60, 20)).astype("float32")
y = (x[:, :1] - 0.5 * x[:, 1:2] + 0.5 * np.random.normal(size=(60, 1))).astype("float32")
x_test = np.random.normal(size=(300, 20)).astype("float32")
y_test = x_test[:, :1] - 0.5 * x_test[:, 1:2]

l2 = keras.regularizers.L2(0.02)
model = keras.Sequential([
    keras.layers.Dense(64, activation="relu", kernel_regularizer=l2),
    keras.layers.Dense(1, kernel_regularizer=l2),
])
optimizer = keras.optimizers.Adam(1e-2)
loss_fn = keras.losses.MeanSquaredError()


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        prediction = model(x, training=True)
        loss = loss_fn(y, prediction) + tf.add_n(model.losses)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(60):
    loss = train_step(x, y)
print("train", float(loss), "test", float(loss_fn(y_test, model(x_test))))
print("norm", float(tf.norm(model.layers[0].kernel)))
