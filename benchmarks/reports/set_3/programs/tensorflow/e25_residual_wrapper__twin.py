import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(0)


class Mixer(layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.units = units
        self.dense = layers.Dense(units, activation="tanh")

    def call(self, inputs):
        return self.dense(inputs)


class Regressor(keras.Model):
    def __init__(self):
        super().__init__()
        self.mixer = Mixer(24)
        self.head = layers.Dense(1)

    def call(self, x):
        return self.head(self.mixer(x))


x = tf.random.normal((256, 4))
y = tf.sin(x[:, :1]) + x[:, 1:2] * x[:, 2:3]
model = Regressor()
optimizer = keras.optimizers.Adam(5e-3)
loss_fn = keras.losses.MeanSquaredError()
model(x[:1])

for step in range(201):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x))
    grads = tape.gradient(loss, model.trainable_variables)
    pairs = [(g, v) for g, v in zip(grads, model.trainable_variables) if g is not None]
    optimizer.apply_gradients(pairs)
    if step % 40 == 0:
        print(f"step {step} loss {loss:.4f} variables {len(pairs)}")
