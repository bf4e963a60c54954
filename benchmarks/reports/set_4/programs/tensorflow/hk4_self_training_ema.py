import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)


def build():
    return keras.Sequential([keras.Input((8,)), layers.Dense(32, activation="relu"), layers.Dense(3)])


student, teacher = build(), build()
teacher.set_weights(student.get_weights())
teacher.trainable = False
y_all = rng.integers(0, 3, 600)
x_all = (rng.normal(0, 1, (3, 8))[y_all] + 0.7 * rng.normal(0, 1, (600, 8))).astype("float32")
x_lab, y_lab = x_all[:90], y_all[:90]
ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")
optimizer = keras.optimizers.SGD(0.1)


@tf.function
def train_step(x, y, u):
    soft = tf.nn.softmax(teacher(u))
    confident = tf.cast(tf.reduce_max(soft, axis=1) > 0.8, tf.float32)
    pseudo = tf.argmax(soft, axis=1)
    with tf.GradientTape() as tape:
        supervised = tf.reduce_mean(ce(y, student(x)))
        unsupervised = tf.reduce_mean(confident * ce(pseudo, student(u + tf.random.normal(tf.shape(u), stddev=0.1))))
        loss = supervised + unsupervised
    gradients = tape.gradient(loss, student.trainable_variables)
    optimizer.apply_gradients(zip(gradients, student.trainable_variables))
    for t, s in zip(teacher.variables, student.variables):
        t.assign(0.95 * t + 0.05 * s)
    return loss


for step in range(100):
    i = rng.integers(0, 90, 30)
    u = x_all[rng.integers(90, 600, 60)]
    loss = train_step(tf.constant(x_lab[i]), tf.constant(y_lab[i]), tf.constant(u))
    if step % 25 == 24:
        accuracy = np.mean(np.argmax(teacher(x_all), 1) == y_all)
        print(f"step {step} loss {float(loss):.4f} teacher accuracy {accuracy:.3f}")
