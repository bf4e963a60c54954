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
        return apply_operation(np.add, ADD, self, other)

    def __radd__(self, other):
        return apply_operation(np.add, ADD, to_value(other, self), self)

    def __sub__(self, other):
        return apply_operation(np.subtract, SUBTRACT, self, other)

    def __rsub__(self, other):
        return apply_operation(np.subtract, SUBTRACT, to_value(other, self), self)

    def __mul__(self, other):
        return apply_operation(np.multiply, MULTIPLY, self, other)

    def __rmul__(self, other):
        return apply_operation(np.multiply, MULTIPLY, to_value(other, self), self)

    def __neg__(self):
        return apply_operation(np.negative, NEGATE, self)

    def __matmul__(self, other):
        return apply_operation(np.matmul, PRODUCT, self, other)

    def __pow__(self, exponent):
        assert exponent == 2, "the workloads need squares alone"
        return self * self

    def __getitem__(self, place):
        return apply_operation(lambda x: x[place], (lambda g, z, x: place_in_zeros(g, x, place),), self)

    @property
    def shape(self):
        return self.data.shape

    @property
    def T(self):  # noqa: N802 - as NumPy calls it
        return apply_operation(np.transpose, TRANSPOSE, self)


class Tape:
    """Rows of (result, rules, inputs, code and offset of the user's statement)."""

    def __init__(self):
        self.rows, self.known, self.kept_tensors = [], set(), []

    def __enter__(self):
        OPEN.append(self)
        return self

    def __exit__(self, *error):
        OPEN.remove(self)

    def watch(self, *values):
        self.known.update(map(id, values))
        self.kept_tensors += values

    def gradient(self, target, sources):
        is_recorded = bool(OPEN)
        reached_ids = {id(s) for s in sources}
        source_ids = frozenset(reached_ids)
        for result, _, inputs, _, _ in self.rows:
            if any(id(i) in reached_ids for i in inputs):
                reached_ids.add(id(result))
        seed = np.ones_like(target.data)
        adjoints = {id(target): Value(seed) if is_recorded else seed}
        for result, rules, inputs, _, _ in reversed(self.rows):
            key = id(result)
            g = adjoints.get(key) if key in source_ids else adjoints.pop(key, None)
            if g is None:
                continue
            z, values = (result, inputs) if is_recorded else (result.data, [i.data for i in inputs])
            for rule, value in zip(rules, inputs, strict=True):
                input_id = id(value)
                if input_id in reached_ids:
                    share = rule(g, z, *values)
                    if share.shape != value.data.shape:
                        share = sum_to_shape(share, value.data.shape)
                    adjoints[input_id] = adjoints[input_id] + share if input_id in adjoints else share
        gradients = [adjoints.get(id(s)) for s in sources]
        return gradients if is_recorded else [None if g is None else Value(g) for g in gradients]


def to_value(number, dtype_source):
    return Value(np.asarray(number, dtype_source.data.dtype)[()])


def apply_operation(function, rules, *inputs):
    first = inputs[0]
    if len(inputs) > 1 and type(inputs[1]) is not Value:
        inputs = first, to_value(inputs[1], first)
    if len(inputs) > 1 and first.data.dtype is not inputs[1].data.dtype:
        raise TypeError("operands of two dtypes")
    result = Value(function(*[i.data for i in inputs]))
    for tape in OPEN:
        known = tape.known
        if any(id(i) in known for i in inputs):
            frame = sys._getframe(2)
            tape.rows.append((result, rules, inputs, frame.f_code, frame.f_lasti))
            known.add(id(result))
    return result


def define_unary_operation(function, rule):
    return lambda x: apply_operation(function, (rule,), x) if type(x) is Value else function(x)


def sum_to_shape(g, shape):
    """Return an adjoint in the shape of an input that was broadcast, or the other way round."""
    if type(g) is Value:
        return apply_operation(lambda x: sum_to_shape(x, shape), (lambda g, z, x: sum_to_shape(g, x.shape),), g)
    extra = g.ndim - len(shape)
    if extra < 0 or g.size < np.prod(shape, dtype=int):
        return np.broadcast_to(g, shape)
    axes = (*range(extra), *(i + extra for i, n in enumerate(shape) if n == 1 != g.shape[i + extra]))
    return g.sum(axes).reshape(shape)


def place_in_zeros(g, shape_source, place):
    whole = np.zeros(shape_source.shape, g.dtype)
    whole[place] = g
    return whole


ADD = (lambda g, z, x, y: g, lambda g, z, x, y: g)
SUBTRACT = (lambda g, z, x, y: g, lambda g, z, x, y: -g)
MULTIPLY = (lambda g, z, x, y: g * y, lambda g, z, x, y: g * x)
NEGATE = (lambda g, z, x: -g,)
PRODUCT = (lambda g, z, x, y: g @ y.T, lambda g, z, x, y: x.T @ g)
TRANSPOSE = (lambda g, z, x: g.T,)
sin = define_unary_operation(np.sin, lambda g, z, x: g * cos(x))
cos = define_unary_operation(np.cos, lambda g, z, x: -g * sin(x))
tanh = define_unary_operation(np.tanh, lambda g, z, x: g * (1.0 - z * z))
log = define_unary_operation(np.log, lambda g, z, x: g / x)
sigmoid = define_unary_operation(lambda x: 1 / (1 + np.exp(-x)), lambda g, z, x: g * z * (1.0 - z))
total = define_unary_operation(np.sum, lambda g, z, x: sum_to_shape(g, x.shape))


def mean(x):
    return total(x) * np.float32(1 / x.data.size)


# -- the workloads ---------------------------------------------------------------------------------


def scalar_ops(n):
    x = Value(np.float32(3.0))

    def run_once():
        with Tape() as tape:
            tape.watch(x)
            y = x * x if n == 1 else (x * x + x) * x - x * x
        return [tape.gradient(y, [x])[0].data]

    return run_once


def chain(n):
    x, c = Value(np.float32(0.9)), Value(np.float32(0.1))

    def run_once():
        with Tape() as tape:
            tape.watch(x)
            y = x
            for _ in range(n // 2):
                y = y * x + c
        return [tape.gradient(y, [x])[0].data]

    return run_once


def rosenbrock(n):
    x = Value(w.build_vector(n))

    def run_once():
        with Tape() as tape:
            tape.watch(x)
            a, b = x[:-1], x[1:]
            y = total(100.0 * (b - a * a) ** 2 + (1.0 - a) ** 2)
        g = tape.gradient(y, [x])[0].data
        return [g[0], g[-1]]

    return run_once


def mlp(batch):
    d = w.build_mlp_inputs(batch)
    weights, biases = [Value(m) for m in d["weights"]], [Value(b) for b in d["biases"]]
    x, y = Value(d["x"]), Value(d["y"])

    def run_once():
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

    return run_once


def elementwise(n):
    x = Value(w.build_vector(n))

    def run_once():
        with Tape() as tape:
            tape.watch(x)
            y = x
            for _ in range(5):
                y = tanh(sin(y) * 1.1 + 0.1)
            s = total(y)
        g = tape.gradient(s, [x])[0].data
        return [g[0], g[-1]]

    return run_once


def logistic(steps):
    features, labels = w.build_logistic_inputs()
    x, y = Value(features), Value(labels)

    def run_once():
        m, b = Value(np.zeros((20, 1), np.float32)), Value(np.float32(0.0))
        for _ in range(steps):
            with Tape() as tape:
                tape.watch(m, b)
                p = sigmoid(x @ m + b)
                loss = -mean(y * log(p + 1e-7) + (1.0 - y) * log(1.0 - p + 1e-7))
            gm, gb = tape.gradient(loss, [m, b])
            m, b = Value(m.data - (0.1 * gm).data), Value(b.data - (0.1 * gb).data)
        return [loss.data, b.data]

    return run_once


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
