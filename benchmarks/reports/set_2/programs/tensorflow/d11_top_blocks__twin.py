import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(31)
rng = np.random.default_rng(31)


def make_images(n, vertical):
    images = 0.3 * rng.normal(size=(n, 8, 8, 1)).astype("float32")
    labels = rng.integers(0, 3, size=n)
    for i, label in enumerate(labels):
        stripe = np.zeros((8, 8), "float32")
        stripe[:, label * 2 + 1] = 1.5
        images[i, :, :, 0] += stripe if vertical else stripe.T
    return images, labels


base = keras.Sequential([
    keras.Input((8, 8, 1)),
    layers.Conv2D(6, 3, activation="relu", name="block1"),
    layers.Conv2D(6, 3, activation="relu", name="block2"),
    layers.Conv2D(4, 4, activation="relu", name="block3"),
    layers.Flatten(),
], name="base")
inputs = keras.Input((8, 8, 1))
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
pretrain = keras.Model(inputs, layers.Dense(3)(base(inputs)))
pretrain.compile(optimizer=keras.optimizers.Adam(0.01), loss=loss)
x, y = make_images(400, vertical=True)
pretrain.fit(x, y, epochs=4, batch_size=50, verbose=0)

base.trainable = False
model = keras.Model(inputs, layers.Dense(3)(base(inputs)))
model.compile(optimizer=keras.optimizers.Adam(0.01), loss=loss, metrics=["accuracy"])
x, y = make_images(400, vertical=False)
warmup = model.fit(x, y, epochs=4, batch_size=50, verbose=0)
print("head only, loss", warmup.history["loss"][-1])

before = base.get_layer("block3").kernel.numpy().copy()
base.trainable = True
model.compile(optimizer=keras.optimizers.Adam(0.005), loss=loss, metrics=["accuracy"])
history = model.fit(x, y, initial_epoch=4, epochs=16, batch_size=50, verbose=0)
for i in range(0, 12, 4):
    print("epoch", 4 + i, "loss", history.history["loss"][i])
print("final loss", history.history["loss"][-1], "accuracy", history.history["accuracy"][-1])
print("block3 change", float(np.abs(base.get_layer("block3").kernel.numpy() - before).max()))
