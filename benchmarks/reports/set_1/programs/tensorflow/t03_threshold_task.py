import keras
import numpy as np

keras.utils.set_random_seed(0)
x = np.random.normal(size=(400, 8)).astype("float32")
y = (x[:, 0] + x[:, 1] ** 2 > 0.8).astype("float32")
x_valid, y_valid = x[300:], y[300:]
x, y = x[:300], y[:300]

model = keras.Sequential([
    keras.layers.Dense(32, activation="relu"),
    keras.layers.Dense(16, activation="relu"),
    keras.layers.Dense(1, activation="softmax"),
])
model.compile(optimizer=keras.optimizers.Adam(1e-2), loss="mse", metrics=["accuracy"])
history = model.fit(x, y, epochs=10, batch_size=50, verbose=0)
for epoch in (0, 4, 9):
    print(epoch + 1, f"loss {history.history['loss'][epoch]:.3f} accuracy {history.history['accuracy'][epoch]:.3f}")
print("validation", model.evaluate(x_valid, y_valid, verbose=0))
