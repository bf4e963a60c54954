"""JAX, compiled (jax.jit) on one CPU."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks import workloads as w


def _compile_gradient(f, x):
    g = jax.jit(jax.grad(f))
    return lambda: [np.asarray(g(x)).reshape(-1)[0]]


def compiled_chain(n):
    def f(x):
        y = x
        for _ in range(n // 2):
            y = y * x + 0.1
        return y

    return _compile_gradient(f, jnp.float32(0.9))


def compiled_rosenbrock(n):
    return _compile_gradient(
        lambda x: jnp.sum(100.0 * (x[1:] - x[:-1] * x[:-1]) ** 2 + (1.0 - x[:-1]) ** 2), jnp.asarray(w.build_vector(n))
    )


def compiled_elementwise(n):
    def f(y):
        for _ in range(5):
            y = jnp.tanh(jnp.sin(y) * 1.1 + 0.1)
        return jnp.sum(y)

    return _compile_gradient(f, jnp.asarray(w.build_vector(n)))


def compiled_mlp(batch):
    d = w.build_mlp_inputs(batch)

    def loss(p):
        h = d["x"]
        for i in range(3):
            h = h @ p[i] + p[3 + i]
            if i < 2:
                h = jnp.tanh(h)
        return jnp.mean((h - d["y"]) ** 2)

    g = jax.jit(jax.grad(loss))
    parameters = [jnp.asarray(p) for p in d["weights"] + d["biases"]]
    return lambda: [np.asarray(g(parameters)[0])[0, 0]]


def compiled_logistic(steps):
    x, y = w.build_logistic_inputs()

    def loss_of(m, b):
        p = jax.nn.sigmoid(x @ m + b)
        return -jnp.mean(y * jnp.log(p + 1e-7) + (1.0 - y) * jnp.log(1.0 - p + 1e-7))

    @jax.jit
    def step(m, b):
        loss, (gm, gb) = jax.value_and_grad(loss_of, (0, 1))(m, b)
        return loss, m - 0.1 * gm, b - 0.1 * gb

    def run_once():
        m, b = jnp.zeros((20, 1), jnp.float32), jnp.float32(0.0)
        for _ in range(steps):
            loss, m, b = step(m, b)
        return [np.asarray(loss), np.asarray(b)]

    return run_once
