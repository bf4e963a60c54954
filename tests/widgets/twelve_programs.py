"""Define the twelve programs by which pictures are judged. They are as wide, deep, long and wrong as real programs."""

from collections.abc import Callable
from typing import Any

import numpy as np

import minitape as tf

from .conftest import build_chain_snapshot, open_scope, square


def _some(*shape: int, seed: int = 0) -> np.ndarray:
    return (np.random.default_rng(seed).normal(size=shape) / shape[0] ** 0.5).astype(np.float32)


def _weight(name: str, *shape: int) -> Any:
    return tf.Variable(_some(*shape, seed=len(name) + sum(map(ord, name))), name=name)


def chained() -> Any:
    w = tf.Variable(0.5, name="w")
    with tf.GradientTape() as tape:
        z = w * 3.0 + 1.0
        p = tf.sigmoid(z)
        loss = (p - 0.2) ** 2
    tape.gradient(loss, w)
    return tf.snapshot(tape)


def network() -> Any:
    x, goal = _some(32, 4), _some(32, 1, seed=1)
    w, b, v = _weight("w", 4, 16), _weight("b", 16), _weight("v", 16, 1)
    with tf.GradientTape() as tape:
        h = tf.nn.relu(tf.matmul(x, w) + b)
        loss = tf.reduce_mean((tf.matmul(h, v) - goal) ** 2)
    tape.gradient(loss, [w, b, v])
    return tf.snapshot(tape)


def _attend(x: Any, size: int, mask: Any = None) -> Any:
    wq, wk, wv = (_weight(name, size, size) for name in ("wq", "wk", "wv"))
    bk = _weight("bk", size)
    q, k, v = x @ wq, x @ wk + bk, x @ wv
    scores = tf.matmul(q, k, transpose_b=True) / size**0.5
    if mask is not None:
        scores = scores + mask
    return tf.nn.softmax(scores) @ v, [wq, wk, wv, bk]


def attention() -> Any:
    x = tf.constant(_some(6, 8))
    mask = tf.constant(np.triu(np.full((6, 6), -1e9, np.float32), 1))
    with tf.GradientTape() as tape:
        out, weights = _attend(x, 8, mask)
        loss = tf.reduce_mean(out**2)
    tape.gradient(loss, weights)
    return tf.snapshot(tape)


def newton() -> Any:
    x = tf.Variable(1.5, name="x")
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x**4 - 3.0 * x**2 + x
        slope = inner.gradient(y, x)
    outer.gradient(slope, x)
    return tf.snapshot(outer)


def recurrent() -> Any:
    """Run an LSTM for twelve steps."""
    kernel, recurrence, bias = _weight("kernel", 3, 16), _weight("recurrence", 4, 16), _weight("bias", 16)
    xs = tf.constant(_some(12, 1, 3))
    h, c = tf.zeros([1, 4]), tf.zeros([1, 4])
    with tf.GradientTape() as tape:
        for turn in range(12):
            i, f, g, o = tf.split(xs[turn] @ kernel + h @ recurrence + bias, 4, axis=1)
            c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
            h = tf.sigmoid(o) * tf.tanh(c)
        loss = tf.reduce_sum(h**2)
    tape.gradient(loss, [kernel, recurrence, bias])
    return tf.snapshot(tape)


def layered() -> Any:
    tf.random.set_seed(1)
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Dense(16, activation="relu", name="first"),
            layers.Dense(16, activation="tanh", name="second"),
            layers.Dense(10, name="third"),
        ]
    )
    x = tf.constant(_some(8, 12))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x) ** 2)
    tape.gradient(loss, model.trainable_variables)
    return tf.snapshot(tape)


def transformer() -> Any:
    x, weights = tf.constant(_some(6, 8)), []
    with tf.GradientTape() as tape:
        for block in range(3):
            with open_scope(f"block_{block}"):
                with open_scope("attention"):
                    attended, used = _attend(x, 8)
                x = x + attended
                with open_scope("dense"):
                    w, v = _weight("w", 8, 16), _weight("v", 16, 8)
                    x = x + tf.nn.relu(x @ w) @ v
                weights += [*used, w, v]
        loss = tf.reduce_mean(x**2)
    tape.gradient(loss, weights)
    return tf.snapshot(tape)


def missing() -> Any:
    """Compute a gradient that is None because a value escaped through NumPy."""
    w, b = tf.Variable(2.0, name="w"), tf.Variable(1.0, name="b")
    with tf.GradientTape() as tape:
        h = tf.constant(np.tanh((w * 3.0).numpy()))
        loss = h * b
    tape.gradient(loss, [w, b])
    return tf.snapshot(tape)


def not_a_number() -> Any:
    x = tf.Variable([0.0, 1.0, 4.0], name="x")
    with tf.GradientTape() as tape:
        safe = tf.where(x > 0.0, tf.sqrt(x), 0.0)
        loss = tf.reduce_sum(safe * 2.0)
    tape.gradient(loss, x)
    return tf.snapshot(tape)


def broadcast() -> Any:
    """Compute a loss from shapes (32, 1) and (32,), which compares each value with all others."""
    x, goal, w = _some(32, 4), _some(32, seed=2), _weight("w", 4, 1)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.matmul(x, w) - goal) ** 2)
    tape.gradient(loss, w)
    return tf.snapshot(tape)


TWELVE: dict[str, Callable[[], Any]] = {
    "square": lambda: tf.snapshot(*square()),
    "chain": chained,
    "network": network,
    "attention": attention,
    "newton": newton,
    "lstm": recurrent,
    "layers": layered,
    "transformer": transformer,
    "loop": lambda: build_chain_snapshot(500),
    "none": missing,
    "nan": not_a_number,
    "broadcast": broadcast,
}
