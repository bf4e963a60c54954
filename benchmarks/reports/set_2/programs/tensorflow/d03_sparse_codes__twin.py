import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(21)
rng = np.random.default_rng(21)
atoms = rng.normal(size=(16, 10)).astype("float32")
mask = (rng.random((256, 16)) < 0.15).astype("float32")
patches = (mask * rng.random((256, 16)).astype("float32")) @ atoms

inputs = keras.Input((10,))
hidden = keras.layers.Dense(
    32, activation="relu", activity_regularizer=keras.regularizers.L1(0.02), name="codes")(inputs)
outputs = keras.layers.Dense(10, kernel_regularizer=keras.regularizers.L2(1e-3))(hidden)
model = keras.Model(inputs, outputs)
codes = keras.Model(inputs, hidden)
optimizer = keras.optimizers.Adam(0.01)
dataset = tf.data.Dataset.from_tensor_slices(patches).shuffle(256, seed=1).batch(32)


@tf.function
def train_step(batch):
    with tf.GradientTape() as tape:
        recon = model(batch, training=True)
        loss = tf.reduce_mean(tf.square(recon - batch)) + tf.add_n(model.losses)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(25):
    total = [float(train_step(batch)) for batch in dataset]
    if epoch % 6 == 0:
        print("epoch", epoch, "loss", np.mean(total))

active = float(np.mean(codes(patches).numpy() > 0.05))
print("fraction of active units", active, "mean code", float(np.mean(codes(patches).numpy())))
