import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
x = np.random.normal(size=(512, 6)).astype("float32")
y = (x @ np.arange(1.0, 7.0)[:, None]).astype("float32")
spikes = np.random.rand(512) < 0.02
y[spikes] *= 300.0
model = keras.Sequential([keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.03)

for step in range(50):
    rows = np.random.randint(0, 512, 64)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x[rows]) - y[rows]) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    clipped, norm = tf.clip_by_global_norm(gradients, 5.0)
    optimizer.apply_gradients(zip(clipped, model.trainable_variables))
    if step % 10 == 9:
        error = np.abs(model.layers[0].kernel.numpy()[:, 0] - np.arange(1.0, 7.0)).mean()
        print(step + 1, f"norm {float(norm):.1f} error {error:.2f}")
