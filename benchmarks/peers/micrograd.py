"""micrograd (https://github.com/karpathy/micrograd): scalars only, an object for each."""

from __future__ import annotations

import sys

from micrograd.engine import Value

from benchmarks import workloads as w

sys.setrecursionlimit(10_000_000)  # its backward pass recurses over the graph


def scalar_ops(n):
    def run_once():
        x = Value(3.0)
        y = x * x if n == 1 else (x * x + x) * x - x * x
        y.backward()
        return [x.grad]

    return run_once


def chain(n):
    def run_once():
        x, c = Value(0.9), Value(0.1)
        y = x
        for _ in range(n // 2):
            y = y * x + c
        y.backward()
        return [x.grad]

    return run_once


def micro_mlp(samples):
    layers, xs, ys = w.build_micro_mlp_inputs(samples)

    def run_once():
        held = [[([Value(v) for v in ws], Value(b)) for ws, b in layer] for layer in layers]
        loss = Value(0.0)
        for x, y in zip(xs, ys, strict=True):
            for depth, layer in enumerate(held):
                out = []
                for ws, b in layer:
                    s = b
                    for wi, xi in zip(ws, x, strict=True):
                        s = wi * xi + s
                    out.append(s.relu() if depth < 2 else s)
                x = out
            d = x[0] - y
            loss = d * d + loss
        loss.backward()
        return [loss.data, held[0][0][0][0].grad, held[-1][-1][1].grad]

    return run_once
