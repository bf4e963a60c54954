import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)

n = 1024
labels = rng.integers(0, 3, n)
means = rng.normal(0, 1, (3, 10))
signals = (12 + 4 * (means[labels] + rng.normal(0, 0.7, (n, 10)))).astype("float32")
train = tf.data.Dataset.from_tensor_slices((signals[:768], labels[:768])).shuffle(768, seed=0).batch(64)
x_val, y_val = signals[768:], labels[768:]

model = keras.Sequential(
    [
        keras.Input((10,)),
        layers.Dense(32, use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Dropout(0.3),
        layers.Dense(32, use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Dense(3),
    ]
)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.SGD(0.01, momentum=0.9)
train_accuracy = keras.metrics.SparseCategoricalAccuracy()


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss = loss_fn(y, logits)
    gradients = tape.gradient(loss, model.trainable_weights)
    optimizer.apply_gradients(zip(gradients, model.trainable_weights))
    train_accuracy.update_state(y, logits)
    return loss


for epoch in range(6):
    train_accuracy.reset_state()
    for x, y in train:
        loss = train_step(x, y)
    val = np.mean(np.argmax(model(x_val), axis=1) == y_val)
    print(f"epoch {epoch} loss {float(loss):.3f} train {float(train_accuracy.result()):.3f} val {val:.3f}")
print("moving mean", model.layers[1].moving_mean.numpy()[:3])
