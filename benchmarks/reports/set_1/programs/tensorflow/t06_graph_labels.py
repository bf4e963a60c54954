import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
x = np.random.normal(size=(300, 10)).astype("float32")
label = np.argmax(x @ np.random.normal(size=(10, 4)), axis=1)
y = keras.utils.to_categorical(label, 4).astype("float32")

model = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(4, activation="softmax")])
loss_fn = keras.losses.CategoricalCrossentropy()
optimizer = keras.optimizers.Adam(1e-2)

for step in range(50):
    rows = np.random.randint(0, 300, 64)
    with tf.GradientTape() as tape:
        prediction = model(x[rows], training=True)
        loss = loss_fn(prediction, y[rows])
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    if step % 10 == 9:
        accuracy = np.mean(np.argmax(model(x), axis=1) == label)
        print(step + 1, f"loss {float(loss):.3f} accuracy {accuracy:.2f}")
