import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(2)
rng = np.random.default_rng(2)
x = rng.normal(size=(512, 10)).astype("float32")
y = (np.sin(x[:, :1]) + 0.5 * x[:, 1:2]).astype("float32")


class MicroBatchModel(keras.Model):
    def __init__(self, every):
        super().__init__()
        self.hidden = keras.layers.Dense(32, activation="relu")
        self.out = keras.layers.Dense(1)
        self.every = every
        self.seen = tf.Variable(0, dtype=tf.int32, trainable=False)
        self.buffers = None

    def call(self, inputs):
        return self.out(self.hidden(inputs))

    def setup(self):
        self.buffers = [tf.Variable(tf.zeros_like(v), trainable=False) for v in self.trainable_variables]

    def flush(self):
        mean = [b / self.every for b in self.buffers]
        self.optimizer.apply_gradients(zip(mean, self.trainable_variables))
        for b in self.buffers:
            b.assign(tf.zeros_like(b))

    def train_step(self, data):
        inputs, targets = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(y=targets, y_pred=self(inputs, training=True))
        for b, g in zip(self.buffers, tape.gradient(loss, self.trainable_variables)):
            b.assign_add(g)
        self.seen.assign_add(1)
        tf.cond(tf.equal(self.seen % self.every, 0), self.flush, lambda: None)
        return {"loss": loss}


model = MicroBatchModel(every=4)
model(x[:1])
model.setup()
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse")
model.optimizer.build(model.trainable_variables)
first = model.evaluate(x, y, verbose=0)
for epoch in range(8):
    model.fit(x, y, batch_size=16, epochs=1, shuffle=True, verbose=0)
    if epoch % 2 == 1:
        print("epoch", epoch, "loss", model.evaluate(x, y, verbose=0))
print("start", first, "updates", int(model.optimizer.iterations))
