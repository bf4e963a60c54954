"""HIPS autograd (https://github.com/HIPS/autograd): NumPy functions, an object for each operation."""

from __future__ import annotations

import autograd.numpy as anp
import numpy as np
from autograd import grad
from autograd import jacobian as jacobian_of

from benchmarks import workloads as w


def scalar_ops(n):
    g = grad((lambda x: x * x) if n == 1 else (lambda x: (x * x + x) * x - x * x))
    return lambda: [g(3.0)]


def chain(n):
    def f(x):
        y = x
        for _ in range(n // 2):
            y = y * x + 0.1
        return y

    g = grad(f)
    return lambda: [g(0.9)]


def rosenbrock(n):
    x = w.build_vector(n)
    g = grad(lambda x: anp.sum(100.0 * (x[1:] - x[:-1] * x[:-1]) ** 2 + (1.0 - x[:-1]) ** 2))

    def run_once():
        out = g(x)
        return [out[0], out[-1]]

    return run_once


def mlp(batch):
    d = w.build_mlp_inputs(batch)

    def loss(p):
        h = d["x"]
        for i in range(3):
            h = anp.dot(h, p[i]) + p[3 + i]
            if i < 2:
                h = anp.tanh(h)
        return anp.mean((h - d["y"]) ** 2)

    g = grad(loss)

    def run_once():
        out = g(d["weights"] + d["biases"])
        return [loss(d["weights"] + d["biases"]), out[0][0, 0], out[-1][0]]

    return run_once


def elementwise(n):
    x = w.build_vector(n)

    def f(y):
        for _ in range(5):
            y = anp.tanh(anp.sin(y) * 1.1 + 0.1)
        return anp.sum(y)

    g = grad(f)

    def run_once():
        out = g(x)
        return [out[0], out[-1]]

    return run_once


def derivative(order):
    f = lambda x: anp.sin(x) * x * x * x  # noqa: E731
    for _ in range(order):
        f = grad(f)
    return lambda: [f(0.7)]


def jacobian(n):
    x, m = w.build_vector(n), w.create_rng().standard_normal((n, n)).astype(np.float32)
    j = jacobian_of(lambda x: anp.tanh(anp.dot(m, x)))

    def run_once():
        out = j(x)
        return [out[0, 0], out[-1, -1]]

    return run_once
