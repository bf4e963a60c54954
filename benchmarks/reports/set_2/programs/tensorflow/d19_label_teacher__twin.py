import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(16)
rng = np.random.default_rng(16)
x_all = rng.uniform(-2, 2, size=(800, 2)).astype("float32")
clean = np.sin(2 * x_all[:, :1]) * x_all[:, 1:]
noisy = (clean + 1.0 * rng.normal(size=clean.shape)).astype("float32")


def build():
    return keras.Sequential([
        keras.Input((2,)),
        keras.layers.Dense(48, activation="relu"),
        keras.layers.Dense(48, activation="relu"),
        keras.layers.Dense(1),
    ])


student, teacher = build(), build()
teacher.set_weights(student.get_weights())
teacher.trainable = False
optimizer = keras.optimizers.Adam(0.01)
decay = 0.99


@tf.function
def train_step(x, y):
    target = teacher(x + tf.random.normal(tf.shape(x), stddev=0.05), training=False)
    with tf.GradientTape() as tape:
        out = student(x + tf.random.normal(tf.shape(x), stddev=0.05), training=True)
        loss = tf.reduce_mean(tf.square(out - y)) + tf.reduce_mean(tf.square(out - target))
    grads = tape.gradient(loss, student.trainable_variables)
    optimizer.apply_gradients(zip(grads, student.trainable_variables))
    for t, s in zip(teacher.variables, student.variables):
        t.assign(decay * t + (1.0 - decay) * s)
    return loss


for step in range(600):
    rows = rng.choice(800, 16, replace=False)
    loss = train_step(tf.constant(x_all[rows]), tf.constant(noisy[rows]))
    if step % 120 == 0:
        print(step, "loss", float(loss))
error = [float(np.mean((m(x_all).numpy() - clean) ** 2)) for m in (student, teacher)]
gap = np.mean([np.abs(t.numpy() - s.numpy()).mean() for t, s in zip(teacher.variables, student.variables)])
print("clean error of student and teacher", error, "mean weight gap", float(gap))
