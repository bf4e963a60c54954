import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(67)
rng = np.random.default_rng(67)
x = rng.normal(size=(640, 8)).astype("float32")
y = (np.abs(x[:, :1]) + 0.5 * x[:, 1:2]).astype("float32")

inputs = keras.Input((8,))
h = keras.layers.Dense(32, activation="relu")(inputs)
branch = keras.layers.Dense(32, activation="tanh")(h)
branch = keras.layers.Dense(32, kernel_initializer="zeros")(branch)
output = keras.layers.Dense(1)(keras.layers.Add()([h, branch]))
model = keras.Model(inputs, output)
shadow = keras.models.clone_model(model)
shadow.set_weights(model.get_weights())
shadow.trainable = False
optimizer = keras.optimizers.Adam(0.01, gradient_accumulation_steps=4)


@tf.function
def train_step(batch, target):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(batch, training=True) - target))
        loss += 0.05 * tf.reduce_mean(tf.square(model(batch) - tf.stop_gradient(shadow(batch))))
    grads = tape.gradient(loss, model.trainable_variables)
    grads, norm = tf.clip_by_global_norm(grads, 5.0)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    for s, v in zip(shadow.variables, model.variables):
        s.assign(0.95 * s + 0.05 * v)
    return loss, norm


optimizer.build(model.trainable_variables)
for epoch in range(12):
    order = rng.permutation(640)
    for i in range(0, 640, 16):
        rows = order[i:i + 16]
        loss, norm = train_step(tf.constant(x[rows]), tf.constant(y[rows]))
    if epoch % 3 == 0 or epoch == 11:
        error = float(tf.reduce_mean(tf.square(shadow(x) - y)))
        print("epoch", epoch, "loss", float(loss), "norm", float(norm), "shadow error", error)
