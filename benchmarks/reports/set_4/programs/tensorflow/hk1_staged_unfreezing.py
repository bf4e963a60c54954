import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
y = rng.integers(0, 3, 384)
x = (rng.normal(0, 1, (3, 20))[y] + 0.8 * rng.normal(0, 1, (384, 20))).astype("float32")

base = keras.Sequential(
    [keras.Input((20,)), layers.Dense(64), layers.BatchNormalization(), layers.ReLU()], name="base"
)
base.trainable = False
inputs = keras.Input((20,))
# training=False keeps the batch statistics of the base fixed, also after it is unfrozen
h = base(inputs, training=False)
outputs = layers.Dense(3)(layers.Dropout(0.2)(h))
model = keras.Model(inputs, outputs)
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(keras.optimizers.Adam(5e-3), loss)
first = model.fit(x, y, epochs=3, batch_size=32, verbose=0)
base.trainable = True
model.compile(keras.optimizers.Adam(5e-4), loss)
second = model.fit(x, y, epochs=3, batch_size=32, verbose=0)
print(np.round(first.history["loss"] + second.history["loss"], 3))
