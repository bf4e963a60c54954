import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
net = keras.Sequential([keras.layers.Dense(24, activation="tanh"), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam(3e-2)
inside = tf.constant(np.random.uniform(0, 1, (100, 1)), tf.float32)
ends, values = tf.constant([[0.0]]), tf.constant([[0.5]])


def slope(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        u = net(x)
    return tape.gradient(u, x)


net.build((None, 1))
for step in range(60):
    residual = slope(inside) - 1.5
    with tf.GradientTape() as tape:
        boundary = tf.reduce_mean((net(ends) - values) ** 2)
        physics = tf.reduce_mean(residual ** 2)
        loss = boundary + physics
    grads = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(grads, net.trainable_variables))
    if step % 15 == 14:
        print(step + 1, f"boundary {float(boundary):.4f} physics {float(physics):.4f}")
