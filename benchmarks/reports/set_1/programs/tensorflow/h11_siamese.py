import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
encoder = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(8)])
predictor = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(8)])
optimizer = keras.optimizers.SGD(0.05, momentum=0.9)
data = (np.random.normal(size=(256, 3)) @ np.random.normal(size=(3, 12))).astype("float32")


def distance(p, z):
    z = tf.stop_gradient(z)
    return -tf.reduce_mean(tf.reduce_sum(tf.math.l2_normalize(p, -1) * tf.math.l2_normalize(z, -1), -1))


for step in range(40):
    a = data + 0.1 * np.random.normal(size=data.shape).astype("float32")
    b = data + 0.1 * np.random.normal(size=data.shape).astype("float32")
    with tf.GradientTape() as tape:
        za, zb = encoder(a, training=True), encoder(b, training=True)
        loss = 0.5 * distance(predictor(za), zb) + 0.5 * distance(predictor(zb), za)
    variables = encoder.trainable_variables + predictor.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    if step % 10 == 9:
        print(step + 1, float(loss))
