import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(12)
rng = np.random.default_rng(12)
table = rng.normal(size=(256, 6)).astype("float32")
rent = (table @ np.array([2.0, -1.0, 0.5, 0.0, 1.0, 0.3]) + 0.1 * rng.normal(size=256)).astype("float32")

model = keras.Sequential([
    keras.Input((6,)),
    keras.layers.Dense(32, activation="relu"),
    keras.layers.Dense(1),
])
optimizer = keras.optimizers.Adam(0.01)
dataset = tf.data.Dataset.from_tensor_slices((table, rent)).shuffle(256, seed=2).batch(32)


def robust_loss(y_true, y_pred):
    error = y_true - y_pred
    return tf.reduce_mean(tf.sqrt(1.0 + tf.square(error)) - 1.0)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = robust_loss(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(30):
    losses = [float(train_step(x, y)) for x, y in dataset]
    if epoch % 6 == 0 or epoch == 29:
        print("epoch", epoch, "loss", np.mean(losses))
prediction = model(table).numpy()[:, 0]
print("std of predictions", float(prediction.std()), "std of rents", float(rent.std()))
print("correlation", float(np.corrcoef(prediction, rent)[0, 1]))
