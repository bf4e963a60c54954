"""What a careful person writes by hand: NumPy and BLAS, derivatives included; elementwise work in cache-sized
blocks.
"""

from __future__ import annotations

import numpy as np

from benchmarks import workloads as w


def mlp(batch):
    d = w.build_mlp_inputs(batch)
    (a, b, c), (p, q, r), x, y = d["weights"], d["biases"], d["x"], d["y"]

    def run_once():
        h = np.tanh(x @ a + p)
        k = np.tanh(h @ b + q)
        e = k @ c + r - y
        loss = np.mean(e * e)
        g = e * np.float32(2 / e.size)
        gc, gr = k.T @ g, g.sum(0)
        gk = (g @ c.T) * (1 - k * k)
        gb, gq = h.T @ gk, gk.sum(0)
        gh = (gk @ b.T) * (1 - h * h)
        ga, gp = x.T @ gh, gh.sum(0)
        gradients = [ga, gb, gc, gp, gq, gr]
        return [loss, gradients[0][0, 0], gradients[-1][0]]

    return run_once


def elementwise(n, block=16_384):
    x = w.build_vector(n)

    def run_once():
        g = np.empty_like(x)
        total = 0.0
        for start in range(0, n, block):
            y = x[start : start + block]
            slopes = []
            for _ in range(5):
                slope = np.cos(y) * np.float32(1.1)
                y = np.tanh(np.sin(y) * np.float32(1.1) + np.float32(0.1))
                slope *= 1 - y * y
                slopes.append(slope)
            total += float(y.sum())
            out = slopes[-1]
            for slope in slopes[-2::-1]:
                out = out * slope
            g[start : start + block] = out
        return [g[0], g[-1]]

    return run_once
