import numpy as np
import keras

keras.utils.set_random_seed(28)
rng = np.random.default_rng(28)
x = rng.uniform(-2, 2, size=(1024, 3)).astype("float32")
y = (np.sin(2 * x[:, :1]) + x[:, 1:2] * x[:, 2:3]).astype("float32")

batch_size = 32
epochs = 20
steps_per_epoch = len(x) // batch_size
schedule = keras.optimizers.schedules.ExponentialDecay(
    initial_learning_rate=0.01,
    decay_steps=steps_per_epoch,
    decay_rate=0.9)

model = keras.Sequential([
    keras.Input((3,)),
    keras.layers.Dense(48, activation="relu"),
    keras.layers.Dense(48, activation="relu"),
    keras.layers.Dense(1),
])
model.compile(optimizer=keras.optimizers.Adam(schedule), loss="mse")
history = model.fit(x, y, batch_size=batch_size, epochs=epochs, verbose=0)
for epoch in range(0, epochs, 4):
    print("epoch", epoch, "loss", history.history["loss"][epoch])
print("final loss", history.history["loss"][-1])
print("steps", int(model.optimizer.iterations), "rate", float(schedule(model.optimizer.iterations)))
