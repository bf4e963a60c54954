import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
x = np.random.uniform(-1, 1, size=(1024, 3)).astype("float32")
y = np.sin(2 * x.sum(1, keepdims=True)).astype("float32")
model = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.05)

for step in range(30):
    rows = np.random.randint(0, 1024, 256)
    with tf.GradientTape() as tape:
        prediction = model(x[rows], training=True)
        loss = keras.losses.mean_squared_error(y[rows], prediction)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    if step % 6 == 5:
        print(step + 1, float(tf.reduce_mean(loss)))
