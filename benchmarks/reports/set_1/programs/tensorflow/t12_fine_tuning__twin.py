import keras
import numpy as np

keras.utils.set_random_seed(0)
x = np.random.normal(size=(300, 12)).astype("float32")
y = (np.abs(x[:, 0]) > np.abs(x[:, 1])).astype("int64")
base = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(16, activation="relu")], name="base")
model = keras.Sequential([base, keras.layers.Dense(2)])
model.build((None, 12))
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

base.trainable = False
model.compile(optimizer=keras.optimizers.Adam(1e-2), loss=loss)
model.fit(x, y, epochs=3, batch_size=50, verbose=0)

base.trainable = True
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss=loss)
before = base.layers[0].kernel.numpy().copy()
history = model.fit(x, y, epochs=8, batch_size=50, verbose=0)
print([round(v, 3) for v in history.history["loss"]])
print("base moved", float(np.abs(base.layers[0].kernel.numpy() - before).max()))
