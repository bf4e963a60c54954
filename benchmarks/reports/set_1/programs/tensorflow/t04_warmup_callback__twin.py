import keras
import numpy as np

keras.utils.set_random_seed(0)
x = np.random.normal(size=(512, 6)).astype("float32")
y = (x @ np.random.normal(size=(6, 1)) + np.sin(2 * x[:, :1])).astype("float32")


class Warmup(keras.callbacks.Callback):
    def __init__(self, target, epochs):
        super().__init__()
        self.target, self.epochs = target, epochs

    def on_epoch_begin(self, epoch, logs=None):
        rate = self.target * min(1.0, (epoch + 1) / self.epochs)
        self.model.optimizer.learning_rate = rate


model = keras.Sequential([keras.layers.Dense(48, activation="tanh"), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.SGD(learning_rate=1e-6, momentum=0.9), loss="mse")
history = model.fit(x, y, epochs=12, batch_size=64, verbose=0, callbacks=[Warmup(0.05, 4)])
print([round(v, 3) for v in history.history["loss"]][::3])
print("rate used", float(model.optimizer.learning_rate))
