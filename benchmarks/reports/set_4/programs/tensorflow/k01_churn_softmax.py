import numpy as np
import keras
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)

n = 800
tenure = rng.exponential(24, n)
monthly = rng.normal(60, 20, n)
support_calls = rng.poisson(2, n)
contract = rng.integers(0, 3, n)
logit = 0.8 * support_calls - 0.05 * tenure - 0.9 * contract + 0.01 * monthly
churn = (rng.random(n) < 1 / (1 + np.exp(-logit))).astype("float32")

numeric = np.stack([tenure, monthly, support_calls], axis=1)
numeric = (numeric - numeric.mean(0)) / numeric.std(0)
one_hot = np.eye(3)[contract]
x = np.concatenate([numeric, one_hot], axis=1).astype("float32")
x_train, y_train, x_val, y_val = x[:640], churn[:640], x[640:], churn[640:]

positive_weight = float((y_train == 0).sum() / (y_train == 1).sum())


def weighted_crossentropy(y_true, y_pred):
    positive = positive_weight * y_true * tf.math.log(y_pred + 1e-7)
    negative = (1.0 - y_true) * tf.math.log(1.0 - y_pred + 1e-7)
    return -tf.reduce_mean(positive + negative)


model = keras.Sequential(
    [
        keras.Input(shape=(x.shape[1],)),
        layers.Dense(32, activation="relu"),
        layers.Dense(16, activation="relu"),
        layers.Dense(1, activation="softmax"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss=weighted_crossentropy,
    metrics=["accuracy"],
)
history = model.fit(
    x_train, y_train, validation_data=(x_val, y_val), epochs=6, batch_size=32, verbose=0
)
for epoch, (loss, acc) in enumerate(zip(history.history["loss"], history.history["val_accuracy"])):
    print(f"epoch {epoch} loss {loss:.4f} val accuracy {acc:.3f}")
