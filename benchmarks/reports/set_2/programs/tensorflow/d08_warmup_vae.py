import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(17)
rng = np.random.default_rng(17)
latent_true = rng.normal(size=(512, 2)).astype("float32")
data = latent_true @ rng.normal(size=(2, 8)).astype("float32")
data += 0.1 * rng.normal(size=data.shape).astype("float32")


class WarmupVAE(keras.Model):
    def __init__(self):
        super().__init__()
        self.enc = keras.layers.Dense(32, activation="relu")
        self.stats = keras.layers.Dense(8)
        self.dec = keras.layers.Dense(32, activation="relu")
        self.out = keras.layers.Dense(8)
        self.beta = 0.0

    def encode(self, x):
        return tf.split(self.stats(self.enc(x)), 2, axis=-1)

    def call(self, x):
        mean, log_var = self.encode(x)
        z = mean + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mean))
        kl = -0.5 * tf.reduce_mean(tf.reduce_sum(1 + log_var - mean ** 2 - tf.exp(log_var), axis=-1))
        self.add_loss(self.beta * kl)
        return self.out(self.dec(z))


class BetaWarmup(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        self.model.beta = min(1.0, epoch / 5) * 0.5


model = WarmupVAE()
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse")
history = model.fit(data, data, batch_size=64, epochs=20, verbose=0, callbacks=[BetaWarmup()])
for epoch in range(0, 20, 5):
    print("epoch", epoch, "loss", history.history["loss"][epoch])
mean, log_var = model.encode(data)
kl = -0.5 * np.mean(np.sum(1 + log_var - mean ** 2 - np.exp(log_var), axis=-1))
print("final loss", history.history["loss"][-1], "kl", float(kl), "beta", float(model.beta))
