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
pretrain = keras.Model(inputs, layers.Dense(3)(base(inputs)))
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
pretrain.compile(optimizer=keras.optimizers.Adam(0.01), loss=loss)
x, y = make_images(400, vertical=True)
pretrain.fit(x, y, epochs=4, batch_size=50, verbose=0)

base.trainable = False
for layer in base.layers[-3:]:
    layer.trainable = True
model = keras.Model(inputs, layers.Dense(3)(base(inputs)))
model.compile(optimizer=keras.optimizers.Adam(0.01), loss=loss, metrics=["accuracy"])
before = [base.get_layer(n).kernel.numpy().copy() for n in ("block1", "block3")]
x, y = make_images(400, vertical=False)
history = model.fit(x, y, epochs=12, batch_size=50, verbose=0)
for epoch in range(0, 12, 4):
    print("epoch", epoch, "loss", history.history["loss"][epoch])
print("final loss", history.history["loss"][-1], "accuracy", history.history["accuracy"][-1])
print("kernel change", [float(np.abs(base.get_layer(n).kernel.numpy() - b).max())
                        for n, b in zip(("block1", "block3"), before)])
