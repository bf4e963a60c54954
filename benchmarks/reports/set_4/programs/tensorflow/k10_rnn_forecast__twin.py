import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(2)
rng = np.random.default_rng(2)
WINDOW = 60


def make_series(n):
    t = np.arange(n)
    trend = 0.01 * t
    season = 3 * np.sin(2 * np.pi * t / 24) + np.sin(2 * np.pi * t / 168)
    return (10 + trend + season + rng.normal(0, 0.3, n)).astype("float32")


series = make_series(900)
x = np.stack([series[i : i + WINDOW] for i in range(len(series) - WINDOW)])[..., None]
y = series[WINDOW:]
split = 640

model = keras.Sequential(
    [
        keras.Input((WINDOW, 1)),
        layers.LSTM(48, activation="tanh", return_sequences=True),
        layers.LSTM(48, activation="tanh"),
        layers.Dense(1),
    ]
)
model.compile(optimizer=keras.optimizers.SGD(1e-2, momentum=0.9), loss="mse")
history = model.fit(
    x[:split], y[:split], validation_data=(x[split:], y[split:]),
    epochs=4, batch_size=32, verbose=0,
)
for epoch, (loss, val) in enumerate(zip(history.history["loss"], history.history["val_loss"])):
    print(f"epoch {epoch} loss {loss:.4f} val {val:.4f}")
