import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(27)
rng = np.random.default_rng(27)
offset = rng.uniform(-40, 40, size=(1, 12)).astype("float32")
gain = rng.uniform(5, 30, size=(1, 12)).astype("float32")
signal = rng.normal(size=(480, 12)).astype("float32")
labels = np.argmax(signal[:, :4] + 0.5 * signal[:, 4:8], axis=1)
readings = signal * gain + offset

model = keras.Sequential([
    keras.Input((12,)),
    keras.layers.BatchNormalization(),
    keras.layers.Dense(24),
    keras.layers.BatchNormalization(),
    keras.layers.Activation("tanh"),
    keras.layers.Dropout(0.1),
    keras.layers.Dense(4),
])
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.Adam(0.003)
dataset = tf.data.Dataset.from_tensor_slices((readings, labels)).shuffle(480, seed=3).batch(40)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        logits = model(x)
        loss = loss_fn(y, logits)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(15):
    losses = [float(train_step(x, y)) for x, y in dataset]
    if epoch % 4 == 0 or epoch == 14:
        print("epoch", epoch, "loss", np.mean(losses))
accuracy = np.mean(np.argmax(model(readings, training=False), -1) == labels)
print("accuracy", float(accuracy), "moving mean", model.layers[0].moving_mean.numpy()[:3])
