import numpy as np
import tensorflow as tf

tf.random.set_seed(0)
rng = np.random.default_rng(0)

x_raw = rng.uniform(-2, 2, 256).astype("float32")
y_raw = (0.5 * x_raw**3 - x_raw + 0.3 + rng.normal(0, 0.1, 256)).astype("float32")


class PolynomialModel(tf.Module):
    def __init__(self, degree):
        super().__init__()
        self.coefficients = tf.Variable(tf.random.normal([degree + 1], stddev=0.1))
        self.powers = tf.range(degree + 1, dtype=tf.float32)

    def features(self, x):
        return tf.stack([x ** float(k) for k in range(len(self.powers))], axis=1)

    def __call__(self, x):
        return tf.linalg.matvec(self.features(x), self.coefficients)


def huber(y, prediction, delta=1.0):
    error = tf.abs(y - prediction)
    quadratic = tf.minimum(error, delta)
    return tf.reduce_mean(0.5 * quadratic**2 + delta * (error - quadratic))


model = PolynomialModel(degree=3)
velocity = tf.zeros_like(model.coefficients)
learning_rate, momentum = 0.02, 0.9
batches = tf.data.Dataset.from_tensor_slices((x_raw, y_raw)).shuffle(256, seed=0).batch(32)

for epoch in range(10):
    total = 0.0
    for x, y in batches:
        with tf.GradientTape() as tape:
            loss = huber(y, model(x))
        gradient = tape.gradient(loss, model.coefficients)
        velocity = momentum * velocity + gradient
        model.coefficients = model.coefficients - learning_rate * velocity
        total += float(loss)
    print(f"epoch {epoch} loss {total / 8:.4f} {model.coefficients.numpy().round(2)}")
