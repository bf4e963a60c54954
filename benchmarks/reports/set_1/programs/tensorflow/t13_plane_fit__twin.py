import keras
import numpy as np

keras.utils.set_random_seed(0)
x = np.random.normal(size=(240, 2)).astype("float32")
y = (3.0 * x[:, :1] + 8.0 * x[:, 1:] - 2.0).astype("float32")


def build():
    inputs = keras.Input((2,))
    return keras.Model(inputs, keras.layers.Dense(1)(inputs))


def make_optimizer():
    rate = keras.optimizers.schedules.CosineDecay(0.0, 80, warmup_target=0.3, warmup_steps=20)
    return keras.optimizers.Adam(rate)


model = build()
losses = []
model.compile(optimizer=make_optimizer(), loss="mse")
for epoch in range(12):
    history = model.fit(x, y, batch_size=48, epochs=1, verbose=0)
    losses.append(round(history.history["loss"][0], 2))
print(losses)
print("steps counted by the optimizer:", int(model.optimizer.iterations))
