import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(8)
rng = np.random.default_rng(8)
net = keras.Sequential([
    keras.Input((1,)),
    keras.layers.Dense(20, activation="tanh"),
    keras.layers.Dense(20, activation="tanh"),
    keras.layers.Dense(2),
])
optimizer = keras.optimizers.Adam(0.01)
omega = 2.0


def residual(t):
    with tf.GradientTape(persistent=True) as inner:
        inner.watch(t)
        state = net(t)
        pos, vel = state[:, 0:1], state[:, 1:2]
    d_pos = inner.gradient(pos, t)
    d_vel = inner.gradient(vel, t)
    return d_pos - vel, d_vel + omega ** 2 * pos


@tf.function
def train_step(t):
    with tf.GradientTape() as tape:
        r_pos, r_vel = residual(t)
        initial = net(tf.zeros((1, 1)))
        loss_ic = tf.reduce_sum(tf.square(initial - tf.constant([[1.0, 0.0]])))
        loss_ode = tf.reduce_mean(tf.square(r_pos)) + tf.reduce_mean(tf.square(r_vel))
        loss = 5.0 * loss_ic + loss_ode
    grads = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(grads, net.trainable_variables))
    return loss


for step in range(1500):
    t = tf.constant(rng.uniform(0, 1.5, size=(64, 1)).astype("float32"))
    loss = train_step(t)
    if step % 300 == 0:
        print(step, "loss", float(loss))
grid = np.linspace(0, 1.5, 50, dtype="float32")[:, None]
print("max error to cos(2t)", float(np.abs(net(grid).numpy()[:, 0] - np.cos(omega * grid[:, 0])).max()))
