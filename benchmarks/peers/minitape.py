"""minitape, as its users write it."""

from __future__ import annotations

import numpy as np

import minitape as tf
from benchmarks import workloads as w


def scalar_ops(n):
    x = tf.constant(3.0)

    def run_once():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x if n == 1 else (x * x + x) * x - x * x
        return [tape.gradient(y, x).numpy()]

    return run_once


def chain(n):
    x, c = tf.constant(0.9), tf.constant(0.1)

    def run_once():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(n // 2):
                y = y * x + c
        return [tape.gradient(y, x).numpy()]

    return run_once


def micro_mlp(samples):
    layers, xs, ys = w.build_micro_mlp_inputs(samples)
    layers = [[([tf.Variable(v) for v in ws], tf.Variable(b)) for ws, b in layer] for layer in layers]
    parameters = [p for layer in layers for ws, b in layer for p in (*ws, b)]

    def run_once():
        with tf.GradientTape() as tape:
            held = [[([v.value() for v in ws], b.value()) for ws, b in layer] for layer in layers]
            loss = 0.0
            for x, y in zip(xs, ys, strict=True):
                for depth, layer in enumerate(held):
                    out = []
                    for ws, b in layer:
                        s = b
                        for wi, xi in zip(ws, x, strict=True):
                            s = wi * xi + s
                        out.append(tf.nn.relu(s) if depth < 2 else s)
                    x = out
                d = x[0] - y
                loss = d * d + loss
        g = tape.gradient(loss, parameters)
        return [loss.numpy(), g[0].numpy(), g[-1].numpy()]

    return run_once


def compute_rosenbrock(x):
    a, b = x[:-1], x[1:]
    return tf.reduce_sum(100.0 * (b - a * a) ** 2 + (1.0 - a) ** 2)


def rosenbrock(n):
    x = tf.constant(w.build_vector(n))

    def run_once():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = compute_rosenbrock(x)
        g = tape.gradient(y, x)
        return [g.array[0], g.array[-1]]

    return run_once


def apply_network(weights, biases, x):
    for i, (m, b) in enumerate(zip(weights, biases, strict=True)):
        x = tf.matmul(x, m) + b
        if i < len(weights) - 1:
            x = tf.tanh(x)
    return x


def mlp(batch):
    d = w.build_mlp_inputs(batch)
    weights, biases = [tf.Variable(m) for m in d["weights"]], [tf.Variable(b) for b in d["biases"]]
    x, y = tf.constant(d["x"]), tf.constant(d["y"])

    def run_once():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((apply_network(weights, biases, x) - y) ** 2)
        g = tape.gradient(loss, weights + biases)
        return [loss.numpy(), g[0].array[0, 0], g[-1].array[0]]

    return run_once


def compute_elementwise(y):
    for _ in range(5):
        y = tf.tanh(tf.sin(y) * 1.1 + 0.1)
    return tf.reduce_sum(y)


def elementwise(n):
    x = tf.constant(w.build_vector(n))

    def run_once():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = compute_elementwise(x)
        g = tape.gradient(y, x)
        return [g.array[0], g.array[-1]]

    return run_once


def take_logistic_step(x, y, m, b):
    with tf.GradientTape() as tape:
        p = tf.sigmoid(tf.matmul(x, m) + b)
        loss = -tf.reduce_mean(y * tf.math.log(p + 1e-7) + (1.0 - y) * tf.math.log(1.0 - p + 1e-7))
    gm, gb = tape.gradient(loss, [m, b])
    m.assign_sub(0.1 * gm)
    b.assign_sub(0.1 * gb)
    return loss


def logistic(steps):
    features, labels = w.build_logistic_inputs()
    x, y = tf.constant(features), tf.constant(labels)

    def run_once():
        m, b = tf.Variable(np.zeros((20, 1), np.float32)), tf.Variable(0.0)
        for _ in range(steps):
            loss = take_logistic_step(x, y, m, b)
        return [loss.numpy(), b.numpy()]

    return run_once


def training_step(batch):
    kernels, x, y = w.build_training_inputs(batch)
    x, y = tf.constant(x), tf.constant(y)
    dense = tf.keras.layers.Dense
    model = tf.keras.Sequential([dense(16, "tanh"), dense(16, "tanh"), dense(1)])
    model(x)  # the first call makes the weights
    for layer, kernel in zip(model.layers, kernels, strict=True):
        layer.kernel.assign(kernel)
    optimizer, loss_of = tf.keras.optimizers.Adam(0.01), tf.nn.sigmoid_cross_entropy_with_logits

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(loss_of(y, model(x)))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    first = [float(step())]  # the others depend on how many there were
    return lambda: first if step() is not None else None


def hvp(batch):
    x, a, b, u, v = w.build_hvp_inputs(batch)
    x, u, v = tf.constant(x), tf.constant(u), tf.constant(v)
    a, b = tf.Variable(a), tf.Variable(b)

    def run_once():
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                loss = tf.reduce_mean(tf.matmul(tf.tanh(tf.matmul(x, a)), b) ** 2)
            ga, gb = inner.gradient(loss, [a, b])
            s = tf.reduce_sum(ga * u) + tf.reduce_sum(gb * v)
        ha, hb = outer.gradient(s, [a, b])
        return [ha.array[0, 0], hb.array[0, 0]]

    return run_once


def derivative(order):
    x = tf.constant(0.7)

    def d(n):
        if n == 0:
            return tf.sin(x) * x * x * x
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = d(n - 1)
        return tape.gradient(y, x)

    return lambda: [d(order).numpy()]


def jacobian(n):
    x, m = tf.constant(w.build_vector(n)), tf.constant(w.create_rng().standard_normal((n, n)).astype(np.float32))

    def run_once():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.tanh(tf.reshape(tf.matmul(m, tf.reshape(x, [n, 1])), [n]))
        j = tape.jacobian(y, x)
        return [j.array[0, 0], j.array[-1, -1]]

    return run_once


def persistent(n):
    return build_gradients_run(n, tf.constant(0.7))


def persistent_arrays(n):
    return build_gradients_run(n, tf.constant(w.build_vector(10)))


def build_gradients_run(n, x):
    def run_once():
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y, ys = x, []
            for _ in range(n):
                y = tf.sin(y) * x
                ys.append(y)
        return [float(g.numpy().sum()) for g in [tape.gradient(y, x) for y in ys]][-2:]

    return run_once


def _compile_gradient(f, x):
    @tf.function
    def run_once(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    return lambda: [run_once(x).numpy().reshape(-1)[0]]


def compiled_chain(n):
    c = tf.constant(0.1)

    def f(x):
        y = x
        for _ in range(n // 2):
            y = y * x + c
        return y

    return _compile_gradient(f, tf.constant(0.9))


def compiled_rosenbrock(n):
    return _compile_gradient(compute_rosenbrock, tf.constant(w.build_vector(n)))


def compiled_elementwise(n):
    return _compile_gradient(compute_elementwise, tf.constant(w.build_vector(n)))


def compiled_mlp(batch):
    d = w.build_mlp_inputs(batch)
    x, y = tf.constant(d["x"]), tf.constant(d["y"])
    parameters = [tf.constant(p) for p in d["weights"] + d["biases"]]

    @tf.function
    def step(*parameters):
        with tf.GradientTape() as tape:
            tape.watch(parameters)
            loss = tf.reduce_mean((apply_network(parameters[:3], parameters[3:], x) - y) ** 2)
        return tape.gradient(loss, parameters)

    return lambda: [step(*parameters)[0].array[0, 0]]


def compiled_logistic(steps):
    features, labels = w.build_logistic_inputs()
    x, y = tf.constant(features), tf.constant(labels)
    m, b = tf.Variable(np.zeros((20, 1), np.float32)), tf.Variable(0.0)

    @tf.function
    def step():
        return take_logistic_step(x, y, m, b)

    def run_once():
        m.assign(np.zeros((20, 1), np.float32))
        b.assign(0.0)
        for _ in range(steps):
            loss = step()
        return [loss.numpy(), b.numpy()]

    return run_once
