import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)


def textures(n, classes, offset):
    y = rng.integers(0, classes, n)
    t = np.arange(16)
    waves = np.sin((y[:, None] + 1 + offset) * t[None] * 0.7)
    x = waves[:, :, None] + waves[:, None, :] + rng.normal(0, 0.5, (n, 16, 16))
    return x[..., None].astype("float32"), y


def build_backbone():
    inputs = keras.Input((16, 16, 1))
    h = layers.Conv2D(8, 3, activation="relu")(inputs)
    h = layers.MaxPooling2D()(h)
    h = layers.Conv2D(16, 3, activation="relu")(h)
    return keras.Model(inputs, layers.GlobalAveragePooling2D()(h), name="backbone")


backbone = build_backbone()
pretrain = keras.Sequential([backbone, layers.Dense(3, activation="softmax")])
pretrain.compile("adam", "sparse_categorical_crossentropy")
pretrain.fit(*textures(384, 3, 0.0), epochs=2, verbose=0)

x, y = textures(512, 4, 0.5)
backbone.trainable = False
inputs = keras.Input((16, 16, 1))
h = backbone(inputs)
h = layers.Dropout(0.2)(h)
outputs = layers.Dense(4, activation="softmax")(h)
model = keras.Model(inputs, outputs)
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
model.fit(x, y, epochs=3, batch_size=32, verbose=0)

backbone.trainable = True
before = [w.copy() for w in backbone.get_weights()]
history = model.fit(x, y, epochs=4, batch_size=32, verbose=0)
moved = max(np.abs(a - b).max() for a, b in zip(before, backbone.get_weights()))
print("loss", np.round(history.history["loss"], 3), "backbone moved", moved)
