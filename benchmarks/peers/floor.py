"""The floor: an eager tape with nothing clever in it and none of TensorFlow's semantics.

It does what any eager tape on NumPy has to do: look at the operands, call NumPy, make a value, append a row with the
line that asked for it, and walk the rows backwards with one rule for each input. Both pay the same Python and the same
NumPy, so minitape's time in proportion to this one holds on any machine, which the proportion to a framework in C++
does not.
"""

from __future__ import annotations

import sys

import numpy as np

from benchmarks import workloads as w

OPEN = []  # tapes that record now


class Value:
    """A number or an array."""

    __slots__ = ("data",)

    def __init__(self, data):
        self.data = data

    def __add__(self, other):
        return operation(np.add, ADD, self, other)

    def __radd__(self, other):
        return operation(np.add, ADD, constant(other, self), self)

    def __sub__(self, other):
        return operation(np.subtract, SUBTRACT, self, other)

    def __rsub__(self, other):
        return operation(np.subtract, SUBTRACT, constant(other, self), self)

    def __mul__(self, other):
        return operation(np.multiply, MULTIPLY, self, other)

    def __rmul__(self, other):
        return operation(np.multiply, MULTIPLY, constant(other, self), self)

    def __neg__(self):
        return operation(np.negative, NEGATE, self)

    def __matmul__(self, other):
        return operation(np.matmul, PRODUCT, self, other)

    def __pow__(self, exponent):
        assert exponent == 2, "the workloads need squares alone"
        return self * self

    def __getitem__(self, place):
        return operation(lambda x: x[place], (lambda g, z, x: placed(g, x, place),), self)

    @property
    def shape(self):
        return self.data.shape

    @property
    def T(self):
        return operation(np.transpose, TRANSPOSE, self)


class Tape:
    """Rows of (result, rules, inputs, code and offset of the user's statement)."""

    def __init__(self):
        self.rows, self.known, self.held = [], set(), []

    def __enter__(self):
        OPEN.append(self)
        return self

    def __exit__(self, *error):
        OPEN.remove(self)

    def watch(self, *values):
        self.known.update(map(id, values))
        self.held += values

    def gradient(self, target, sources):
        recorded = bool(OPEN)
        reached = {id(s) for s in sources}
        wanted = frozenset(reached)
        for result, _, inputs, _, _ in self.rows:
            if any(id(i) in reached for i in inputs):
                reached.add(id(result))
        one = np.ones_like(target.data)
        adjoints = {id(target): Value(one) if recorded else one}
        for result, rules, inputs, _, _ in reversed(self.rows):
            key = id(result)
            g = adjoints.get(key) if key in wanted else adjoints.pop(key, None)
            if g is None:
                continue
            z, values = (result, inputs) if recorded else (result.data, [i.data for i in inputs])
            for rule, value in zip(rules, inputs, strict=True):
                to = id(value)
                if to in reached:
                    share = rule(g, z, *values)
                    if share.shape != value.data.shape:
                        share = summed(share, value.data.shape)
                    adjoints[to] = adjoints[to] + share if to in adjoints else share
        found = [adjoints.get(id(s)) for s in sources]
        return found if recorded else [None if g is None else Value(g) for g in found]


def constant(number, like):
    return Value(np.asarray(number, like.data.dtype)[()])


def operation(function, rules, *inputs):
    first = inputs[0]
    if len(inputs) > 1 and type(inputs[1]) is not Value:
        inputs = first, constant(inputs[1], first)
    if len(inputs) > 1 and first.data.dtype is not inputs[1].data.dtype:
        raise TypeError("operands of two dtypes")
    made = Value(function(*[i.data for i in inputs]))
    for tape in OPEN:
        known = tape.known
        if any(id(i) in known for i in inputs):
            frame = sys._getframe(2)
            tape.rows.append((made, rules, inputs, frame.f_code, frame.f_lasti))
            known.add(id(made))
    return made


def unary(function, rule):
    return lambda x: operation(function, (rule,), x) if type(x) is Value else function(x)


def summed(g, shape):
    """An adjoint in the shape of an input that was broadcast, or the other way round."""
    if type(g) is Value:
        return operation(lambda x: summed(x, shape), (lambda g, z, x: summed(g, x.shape),), g)
    extra = g.ndim - len(shape)
    if extra < 0 or g.size < np.prod(shape, dtype=int):
        return np.broadcast_to(g, shape)
    axes = (*range(extra), *(i + extra for i, n in enumerate(shape) if n == 1 != g.shape[i + extra]))
    return g.sum(axes).reshape(shape)


def placed(g, x, place):
    whole = np.zeros(x.shape, g.dtype)
    whole[place] = g
    return whole


ADD = (lambda g, z, x, y: g, lambda g, z, x, y: g)
SUBTRACT = (lambda g, z, x, y: g, lambda g, z, x, y: -g)
MULTIPLY = (lambda g, z, x, y: g * y, lambda g, z, x, y: g * x)
NEGATE = (lambda g, z, x: -g,)
PRODUCT = (lambda g, z, x, y: g @ y.T, lambda g, z, x, y: x.T @ g)
TRANSPOSE = (lambda g, z, x: g.T,)
sin = unary(np.sin, lambda g, z, x: g * cos(x))
cos = unary(np.cos, lambda g, z, x: -g * sin(x))
tanh = unary(np.tanh, lambda g, z, x: g * (1.0 - z * z))
log = unary(np.log, lambda g, z, x: g / x)
sigmoid = unary(lambda x: 1 / (1 + np.exp(-x)), lambda g, z, x: g * z * (1.0 - z))
total = unary(np.sum, lambda g, z, x: summed(g, x.shape))


def mean(x):
    return total(x) * np.float32(1 / x.data.size)


# -- the workloads ---------------------------------------------------------------------------------


def scalar_ops(n):
    x = Value(np.float32(3.0))

    def run():
        with Tape() as tape:
            tape.watch(x)
            y = x * x if n == 1 else (x * x + x) * x - x * x
        return [tape.gradient(y, [x])[0].data]

    return run


def chain(n):
    x, c = Value(np.float32(0.9)), Value(np.float32(0.1))

    def run():
        with Tape() as tape:
            tape.watch(x)
            y = x
            for _ in range(n // 2):
                y = y * x + c
        return [tape.gradient(y, [x])[0].data]

    return run


def rosenbrock(n):
    x = Value(w.vector(n))

    def run():
        with Tape() as tape:
            tape.watch(x)
            a, b = x[:-1], x[1:]
            y = total(100.0 * (b - a * a) ** 2 + (1.0 - a) ** 2)
        g = tape.gradient(y, [x])[0].data
        return [g[0], g[-1]]

    return run


def mlp(batch):
    d = w.mlp_inputs(batch)
    weights, biases = [Value(m) for m in d["weights"]], [Value(b) for b in d["biases"]]
    x, y = Value(d["x"]), Value(d["y"])

    def run():
        with Tape() as tape:
            tape.watch(*weights, *biases)
            h = x
            for i, (m, b) in enumerate(zip(weights, biases, strict=True)):
                h = h @ m + b
                if i < len(weights) - 1:
                    h = tanh(h)
            loss = mean((h - y) ** 2)
        g = tape.gradient(loss, [*weights, *biases])
        return [loss.data, g[0].data[0, 0], g[-1].data[0]]

    return run


def elementwise(n):
    x = Value(w.vector(n))

    def run():
        with Tape() as tape:
            tape.watch(x)
            y = x
            for _ in range(5):
                y = tanh(sin(y) * 1.1 + 0.1)
            s = total(y)
        g = tape.gradient(s, [x])[0].data
        return [g[0], g[-1]]

    return run


def logistic(steps):
    features, labels = w.logistic_inputs()
    x, y = Value(features), Value(labels)

    def run():
        m, b = Value(np.zeros((20, 1), np.float32)), Value(np.float32(0.0))
        for _ in range(steps):
            with Tape() as tape:
                tape.watch(m, b)
                p = sigmoid(x @ m + b)
                loss = -mean(y * log(p + 1e-7) + (1.0 - y) * log(1.0 - p + 1e-7))
            gm, gb = tape.gradient(loss, [m, b])
            m, b = Value(m.data - (0.1 * gm).data), Value(b.data - (0.1 * gb).data)
        return [loss.data, b.data]

    return run


def derivative(order):
    x = Value(np.float32(0.7))

    def d(n):
        if n == 0:
            return sin(x) * x * x * x
        with Tape() as tape:
            tape.watch(x)
            y = d(n - 1)
        return tape.gradient(y, [x])[0]

    return lambda: [d(order).data]
