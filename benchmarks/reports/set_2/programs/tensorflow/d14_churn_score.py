import numpy as np
import keras

keras.utils.set_random_seed(25)
rng = np.random.default_rng(25)
x = rng.normal(size=(600, 5)).astype("float32")
w = np.array([1.5, -2.0, 1.0, 0.0, 0.5])
y = ((x @ w + 0.3 * rng.normal(size=600)) > 1.0).astype("float32")

model = keras.Sequential([
    keras.Input((5,)),
    keras.layers.Dense(16, activation="relu"),
    keras.layers.Dense(16, activation="relu"),
    keras.layers.Dense(1),
])
model.compile(
    optimizer=keras.optimizers.SGD(0.1),
    loss="binary_crossentropy",
    metrics=["accuracy"])
history = model.fit(x, y, epochs=20, batch_size=32, verbose=0)
for epoch in range(0, 20, 4):
    print("epoch", epoch, "loss", history.history["loss"][epoch])
scores = model.predict(x, verbose=0)[:, 0]
print("final loss", history.history["loss"][-1], "accuracy", history.history["accuracy"][-1])
print("score range", float(scores.min()), float(scores.max()))
