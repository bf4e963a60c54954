import keras
import numpy as np

keras.utils.set_random_seed(0)


def make_data(n, directions):
    x = np.random.normal(size=(n, directions.shape[0])).astype("float32")
    return x, np.argmax(x @ directions, axis=1)


directions = np.random.normal(size=(12, 5))
x, y = make_data(400, directions)
x_test, y_test = make_data(200, directions)
model = keras.Sequential([
    keras.layers.Dense(48, activation="relu"),
    keras.layers.Dense(5),
])
model.compile(optimizer=keras.optimizers.Adam(1e-2), loss=keras.losses.SparseCategoricalCrossentropy(), metrics=["accuracy"])
history = model.fit(x, y, epochs=10, batch_size=50, verbose=0)
for epoch in (0, 4, 9):
    print(epoch + 1, f"loss {history.history['loss'][epoch]:.3f} accuracy {history.history['accuracy'][epoch]:.3f}")
print("test", model.evaluate(x_test, y_test, verbose=0))
