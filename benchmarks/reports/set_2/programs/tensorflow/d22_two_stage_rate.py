import numpy as np
import keras

keras.utils.set_random_seed(37)
rng = np.random.default_rng(37)
x = rng.normal(size=(512, 20)).astype("float32")
w = rng.normal(size=(20, 1)).astype("float32")
y = x @ w + 0.05 * rng.normal(size=(512, 1)).astype("float32")


class TwoStage(keras.callbacks.Callback):
    def __init__(self, switch, high, low):
        super().__init__()
        self.switch, self.high, self.low = switch, high, low

    def on_epoch_begin(self, epoch, logs=None):
        rate = self.high if epoch < self.switch else self.low
        self.model.optimizer.lr = rate


model = keras.Sequential([
    keras.Input((20,)),
    keras.layers.Dense(32, activation="tanh"),
    keras.layers.Dense(1),
])
model.compile(optimizer=keras.optimizers.Adam(1e-5), loss="mse")
history = model.fit(
    x, y, epochs=20, batch_size=32, verbose=0,
    callbacks=[TwoStage(switch=14, high=0.02, low=0.002)])
for epoch in range(0, 20, 4):
    print("epoch", epoch, "loss", history.history["loss"][epoch])
print("final loss", history.history["loss"][-1], "rate", float(model.optimizer.learning_rate))
