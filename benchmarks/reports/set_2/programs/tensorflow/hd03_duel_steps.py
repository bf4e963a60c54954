import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(65)
rng = np.random.default_rng(65)


class Duel(keras.Model):
    def __init__(self):
        super().__init__()
        self.gen = keras.Sequential([keras.layers.Dense(24, activation="relu"), keras.layers.Dense(2)])
        self.disc = keras.Sequential([
            keras.layers.Dense(32, activation="leaky_relu"), keras.layers.Dense(32, activation="leaky_relu"),
            keras.layers.Dense(1)])
        self.bce = keras.losses.BinaryCrossentropy(from_logits=True)
        self.clock = tf.Variable(0, dtype=tf.int64, trainable=False)

    def compile(self, d_opt, g_opt):
        super().compile()
        self.d_opt, self.g_opt = d_opt, g_opt
        self.gen.build((None, 4))
        self.disc.build((None, 2))
        d_opt.build(self.disc.trainable_variables)
        g_opt.build(self.gen.trainable_variables)

    def call(self, z):
        return self.gen(z)

    def update_generator(self, n):
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch([v.value for v in self.gen.trainable_variables])
            g_loss = self.bce(tf.ones((n, 1)), self.disc(self.gen(tf.random.normal((n, 4)))))
        grads = tape.gradient(g_loss, [v.value for v in self.gen.trainable_variables])
        self.g_opt.apply_gradients(zip(grads, self.gen.trainable_variables))
        return g_loss

    def train_step(self, real):
        n = tf.shape(real)[0]
        fake = tf.stop_gradient(self.gen(tf.random.normal((n, 4)), training=True))
        with tf.GradientTape() as tape:
            d_loss = self.bce(0.9 * tf.ones((n, 1)), self.disc(real, training=True))
            d_loss += self.bce(tf.zeros((n, 1)), self.disc(fake, training=True))
        grads = tape.gradient(d_loss, self.disc.trainable_variables)
        self.d_opt.apply_gradients(zip(grads, self.disc.trainable_variables))
        turn = tf.logical_and(self.clock >= 20, tf.equal(self.clock % 2, 0))
        g_loss = tf.cond(turn, lambda: self.update_generator(n), lambda: tf.constant(0.0))
        self.clock.assign_add(1)
        return {"d_loss": d_loss, "g_loss": g_loss}


real = (np.array([2.0, -1.0]) + 0.4 * rng.normal(size=(1344, 2))).astype("float32")
model = Duel()
model.compile(keras.optimizers.Adam(0.002, beta_1=0.5), keras.optimizers.Adam(0.002, beta_1=0.5))
for epoch in range(13):
    history = model.fit(real, batch_size=64, epochs=1, verbose=0)
    if epoch % 6 == 0:
        print("epoch", epoch, {k: v[-1] for k, v in history.history.items()})
print("sample mean", model.gen(tf.random.normal((500, 4))).numpy().mean(axis=0))
