import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)


class VAE(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(4)])
        self.decoder = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(8)])
        self.beta = tf.Variable(0.0, trainable=False)

    def call(self, x):
        mean, log_var = tf.split(self.encoder(x), 2, axis=-1)
        z = mean + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mean))
        kl = -0.5 * tf.reduce_mean(tf.reduce_sum(1 + log_var - mean ** 2 - tf.exp(log_var), axis=1))
        return self.decoder(z), kl

    def train_step(self, data):
        with tf.GradientTape() as tape:
            output, kl = self(data, training=True)
            loss = tf.reduce_mean((output - data) ** 2) + self.beta * kl
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss, "kl": kl}


class Anneal(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        self.model.beta.assign(min(1.0, epoch / 5))


x = np.random.normal(size=(256, 2)).astype("float32") @ np.random.normal(size=(2, 8)).astype("float32")
model = VAE()
model.compile(optimizer=keras.optimizers.Adam(1e-2))
history = model.fit(x, epochs=10, batch_size=64, verbose=0, callbacks=[Anneal()])
print("kl", [round(float(v), 2) for v in history.history["kl"]])
