import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(19)
rng = np.random.default_rng(19)
x = rng.normal(size=(500, 8)).astype("float32")
y = np.argmax(np.stack([x[:, 0] + x[:, 1], x[:, 2] - x[:, 3], x[:, 4] * 1.5], axis=1), axis=1)


def mlp(width):
    return keras.Sequential([
        keras.Input((8,)),
        keras.layers.Dense(width, activation="relu"),
        keras.layers.Dense(3),
    ])


teacher, student = mlp(48), mlp(8)
teacher.compile(
    optimizer=keras.optimizers.Adam(0.01),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
teacher.fit(x, y, epochs=12, batch_size=50, verbose=0)
teacher.trainable = False

divergence = keras.losses.KLDivergence()
optimizer = keras.optimizers.Adam(0.01)
temperature = 2.0


@tf.function
def distill(batch):
    soft = tf.nn.softmax(teacher(batch, training=False) / temperature)
    with tf.GradientTape() as tape:
        logits = student(batch, training=True)
        guess = tf.nn.log_softmax(logits / temperature)
        loss = divergence(soft, guess)
        loss += 1e-4 * tf.reduce_mean(tf.square(logits))
    grads = tape.gradient(loss, student.trainable_variables)
    optimizer.apply_gradients(zip(grads, student.trainable_variables))
    return loss


for epoch in range(15):
    order = rng.permutation(500)
    losses = [float(distill(tf.constant(x[order[i:i + 50]]))) for i in range(0, 500, 50)]
    if epoch % 4 == 0 or epoch == 14:
        print("epoch", epoch, "loss", np.mean(losses))
agree = np.mean(np.argmax(student(x), -1) == np.argmax(teacher(x), -1))
print("student agrees with teacher", float(agree))
