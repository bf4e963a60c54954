import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
words = np.random.randint(1, 30, size=(300, 8))
words[:, 6:] = 0
label = (words[:, :6].mean(1) > 15).astype("float32")
table = np.random.normal(size=(30, 12)).astype("float32")
table[:, 0] = np.linspace(-1, 1, 30)
embedding = keras.layers.Embedding(30, 12, mask_zero=True, trainable=False, weights=[table])
model = keras.Sequential([embedding, keras.layers.GlobalAveragePooling1D(), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
loss = keras.losses.BinaryCrossentropy(from_logits=True)
model.compile(optimizer=keras.optimizers.Adam(2e-2, clipnorm=1.0), loss=loss)
first = model.fit(words, label, epochs=5, batch_size=50, verbose=0).history["loss"]
embedding.trainable = True
model.compile(optimizer=keras.optimizers.Adam(5e-3, clipnorm=1.0), loss=loss)
second = model.fit(words, label, epochs=5, batch_size=50, verbose=0).history["loss"]
print([round(v, 3) for v in first + second])
