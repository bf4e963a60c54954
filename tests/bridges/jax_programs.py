"""Typical JAX functions, each with its arguments and, if needed, with options for ``jax.grad``."""

from itertools import pairwise

import jax
import jax.numpy as jnp
from jax import lax, nn

PROGRAMS = {}


def register_program(function):
    PROGRAMS[function.__name__] = function
    return function


def sample_normal(k, *shape):
    return jax.random.normal(jax.random.PRNGKey(k), shape)


def build_layer_weights(*sizes):
    return [{"w": sample_normal(k, a, b) * 0.3, "b": jnp.full(b, 0.1)} for k, (a, b) in enumerate(pairwise(sizes))]


def dense(layer, x):
    return x @ layer["w"] + layer["b"]


def cross_entropy(logits, labels):
    return -jnp.mean(jnp.take_along_axis(nn.log_softmax(logits), labels[:, None], axis=1))


@register_program
def scalar_by_hand():
    return lambda x: x * jnp.sin(x) + x**2 / (1 - x), (3.0,), {}


@register_program
def mlp():
    def loss(params, x, labels):
        *hidden, last = params
        for layer in hidden:
            x = nn.relu(dense(layer, x))
        return cross_entropy(dense(last, x), labels)

    return loss, (build_layer_weights(8, 16, 4), sample_normal(5, 6, 8), jnp.arange(6) % 4), {}


@register_program
def mlp_with_large_weights():
    def loss(params, x, labels):
        return cross_entropy(dense(params[1], jnp.tanh(dense(params[0], x))), labels)

    return loss, (build_layer_weights(784, 64, 10), sample_normal(5, 64, 784), jnp.arange(64) % 10), {}


@register_program
def cnn():
    def loss(params, x, labels):
        h = lax.conv_general_dilated(x, params["kernel"], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        h = nn.gelu(h)
        h = lax.reduce_window(h, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        return cross_entropy(dense(params["head"], h.reshape(len(h), -1)), labels)

    params = {"kernel": sample_normal(0, 3, 3, 1, 4) * 0.3, "head": build_layer_weights(64, 3)[0]}
    return loss, (params, sample_normal(5, 2, 8, 8, 1), jnp.array([0, 2])), {}


@register_program
def batch_norm_with_state():
    def loss(params, state, x):
        mean, var = jnp.mean(x, axis=0), jnp.var(x, axis=0)
        y = params["scale"] * (x - mean) / jnp.sqrt(var + 1e-5) + params["bias"]
        new = {"mean": 0.9 * state["mean"] + 0.1 * mean, "var": 0.9 * state["var"] + 0.1 * var}
        return jnp.mean(jnp.abs(y) ** 1.5), new

    return (
        loss,
        (
            {"scale": jnp.ones(3), "bias": jnp.full(3, 0.2)},
            {"mean": jnp.zeros(3), "var": jnp.ones(3)},
            sample_normal(3, 5, 3),
        ),
        {"has_aux": True},
    )


@register_program
def rnn_with_scan():
    def loss(params, xs):
        def step(h, x):
            h = jnp.tanh(x @ params["x"] + h @ params["h"])
            return h, h

        last, states = lax.scan(step, jnp.zeros(4), xs)
        return jnp.mean(states**2) + jnp.sum(last)

    return loss, ({"x": sample_normal(0, 2, 4), "h": sample_normal(1, 4, 4) * 0.5}, sample_normal(3, 5, 2)), {}


@register_program
def scan_in_reverse():
    def loss(reward, discount):
        def step(total, r):
            total = r + discount * total
            return total, total

        return jnp.sum(lax.scan(step, 0.0, reward, reverse=True)[1] ** 2)

    return loss, (sample_normal(3, 5), 0.9), {"argnums": (0, 1)}


@register_program
def attention_with_a_mask():
    def loss(params, x):
        q, k, v = (x @ params[name] for name in "qkv")
        scores = jnp.where(jnp.tril(jnp.ones((5, 5), bool)), q @ k.T / jnp.sqrt(8.0), -jnp.inf)
        return jnp.mean(nn.softmax(scores) @ v)

    return loss, ({name: sample_normal(k, 8, 8) for k, name in enumerate("qkv")}, sample_normal(9, 5, 8)), {}


@register_program
def gradient_penalty():
    def loss(critic, real, fake):
        def score(x):
            return jnp.sum(dense(critic[1], nn.swish(dense(critic[0], x))))

        slopes = jax.vmap(jax.grad(score))(0.3 * real + 0.7 * fake)
        return jnp.mean((jnp.sqrt(jnp.sum(slopes**2, axis=1) + 1e-8) - 1.0) ** 2)

    return loss, (build_layer_weights(3, 8, 1), sample_normal(8, 4, 3), sample_normal(9, 4, 3)), {}


@register_program
def hessian_vector_product():
    def loss(x, v):
        def inner(x):
            return jnp.sum(jnp.sin(x) * x**3)

        return jnp.sum(jax.jvp(jax.grad(inner), (x,), (v,))[1] ** 2)

    return loss, (sample_normal(3, 4), sample_normal(4, 4)), {}


@register_program
def custom_vjp_that_clips():
    @jax.custom_vjp
    def clipped(x):
        y = jnp.sin(x)
        return y * 2.0

    clipped.defvjp(lambda x: (jnp.sin(x) * 2.0, x), lambda x, g: (jnp.clip(g * jnp.cos(x), -0.1, 0.1),))
    return lambda x: jnp.sum(clipped(x * 3.0) ** 2), (sample_normal(3, 4),), {}


@register_program
def mixed_dtypes():
    def loss(w, x):
        h = (x.astype(jnp.bfloat16) @ w.astype(jnp.bfloat16)).astype(jnp.float32)
        return jnp.mean(nn.silu(h).astype(jnp.float16) * 1.5).astype(jnp.float32)

    return loss, (sample_normal(0, 3, 4), sample_normal(5, 2, 3)), {}


@register_program
def branches():
    def loss(x, y):
        a = lax.cond(jnp.sum(x) > 0, lambda v: jnp.sin(v), lambda v: v * 3.0, x)
        b = lax.switch(2, [jnp.cos, jnp.exp, jnp.tanh], y)
        return jnp.sum(a * b)

    return loss, (jnp.array([0.5, 1.0]), jnp.array([0.2, -0.4])), {"argnums": (0, 1)}


@register_program
def newton_with_fori_loop():
    return lambda a: lax.fori_loop(0, 5, lambda k, x: 0.5 * (x + a / x) + 0.0 * k, 1.0), (2.0,), {}


@register_program
def while_beside_the_way():
    def loss(x):
        steps = lax.while_loop(lambda n: n * n < jnp.sum(lax.stop_gradient(x)) * 10, lambda n: n + 1, 0)
        return jnp.sum(x**2) / steps

    return loss, (jnp.array([1.0, 2.0]),), {}


@register_program
def rematerialized():
    @jax.checkpoint
    def block(layer, x):
        return jnp.sin(dense(layer, x)) * x

    return (
        lambda params, x: jnp.sum(block(params[1], block(params[0], x))),
        (build_layer_weights(3, 3, 3), sample_normal(5, 2, 3)),
        {},
    )


@register_program
def sorted_and_cumulated():
    def loss(x):
        ordered, top = jnp.sort(x), lax.top_k(x, 2)[0]
        return jnp.sum(jnp.cumsum(ordered) ** 2) + jnp.prod(top) + jnp.sum(jnp.cumprod(x)) + jnp.max(x) * jnp.median(x)

    return loss, (sample_normal(3, 5),), {}


@register_program
def linear_algebra():
    def loss(a, b):
        spd = a @ a.T + 3 * jnp.eye(3)
        return (
            jnp.sum(jnp.linalg.solve(spd, b)) + jnp.linalg.norm(jnp.linalg.cholesky(spd)) + jnp.linalg.slogdet(spd)[1]
        )

    return loss, (sample_normal(0, 3, 3), sample_normal(1, 3)), {"argnums": (0, 1)}


@register_program
def dropout_with_a_key():
    def loss(w, x, key):
        keep = jax.random.bernoulli(key, 0.8, x.shape)
        return jnp.sum(jnp.where(keep, x / 0.8, 0.0) @ w + jax.random.normal(jax.random.split(key)[1], (2, 1)) * w[0])

    return loss, (sample_normal(0, 3, 1), sample_normal(5, 2, 3), jax.random.key(3)), {}


@register_program
def functions_under_jit():
    @jax.jit
    def layer(w, x):
        return jnp.where(x @ w > 0, x @ w, jnp.expm1(x @ w))

    @jax.jit
    def loss(ws, x):
        for w in ws:
            x = layer(w, x)
        return jnp.sum(jnp.linalg.norm(x, axis=1))

    return loss, ([sample_normal(0, 3, 3), sample_normal(1, 3, 3)], sample_normal(5, 2, 3)), {}
