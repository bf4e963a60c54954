"""PyTorch, eager, on one thread."""

from __future__ import annotations

import numpy as np
import torch

from benchmarks import workloads as w

torch.set_num_threads(1)


def make_tensor(a, grad=False):
    return torch.tensor(a, dtype=torch.float32, requires_grad=grad)


def scalar_ops(n):
    def run_once():
        x = make_tensor(3.0, True)
        y = x * x if n == 1 else (x * x + x) * x - x * x
        return [torch.autograd.grad(y, x)[0].item()]

    return run_once


def chain(n):
    c = make_tensor(0.1)

    def run_once():
        x = make_tensor(0.9, True)
        y = x
        for _ in range(n // 2):
            y = y * x + c
        return [torch.autograd.grad(y, x)[0].item()]

    return run_once


def micro_mlp(samples):
    layers, xs, ys = w.build_micro_mlp_inputs(samples)
    layers = [[([make_tensor(v, True) for v in ws], make_tensor(b, True)) for ws, b in layer] for layer in layers]
    parameters = [p for layer in layers for ws, b in layer for p in (*ws, b)]

    def run_once():
        loss = 0.0
        for x, y in zip(xs, ys, strict=True):
            for depth, layer in enumerate(layers):
                out = []
                for ws, b in layer:
                    s = b
                    for wi, xi in zip(ws, x, strict=True):
                        s = wi * xi + s
                    out.append(torch.relu(s) if depth < 2 else s)
                x = out
            d = x[0] - y
            loss = d * d + loss
        g = torch.autograd.grad(loss, parameters)
        return [loss.item(), g[0].item(), g[-1].item()]

    return run_once


def rosenbrock(n):
    x = make_tensor(w.build_vector(n), True)

    def run_once():
        a, b = x[:-1], x[1:]
        y = (100.0 * (b - a * a) ** 2 + (1.0 - a) ** 2).sum()
        g = torch.autograd.grad(y, x)[0]
        return [g[0].item(), g[-1].item()]

    return run_once


def mlp(batch):
    d = w.build_mlp_inputs(batch)
    weights, biases = [make_tensor(m, True) for m in d["weights"]], [make_tensor(b, True) for b in d["biases"]]
    x, y = make_tensor(d["x"]), make_tensor(d["y"])

    def run_once():
        h = x
        for i, (m, b) in enumerate(zip(weights, biases, strict=True)):
            h = h @ m + b
            if i < 2:
                h = torch.tanh(h)
        loss = ((h - y) ** 2).mean()
        g = torch.autograd.grad(loss, weights + biases)
        return [loss.item(), g[0][0, 0].item(), g[-1][0].item()]

    return run_once


def elementwise(n):
    x = make_tensor(w.build_vector(n), True)

    def run_once():
        y = x
        for _ in range(5):
            y = torch.tanh(torch.sin(y) * 1.1 + 0.1)
        g = torch.autograd.grad(y.sum(), x)[0]
        return [g[0].item(), g[-1].item()]

    return run_once


def logistic(steps):
    features, labels = (make_tensor(a) for a in w.build_logistic_inputs())

    def run_once():
        m, b = make_tensor(np.zeros((20, 1)), True), make_tensor(0.0, True)
        for _ in range(steps):
            p = torch.sigmoid(features @ m + b)
            loss = -(labels * torch.log(p + 1e-7) + (1.0 - labels) * torch.log(1.0 - p + 1e-7)).mean()
            gm, gb = torch.autograd.grad(loss, [m, b])
            with torch.no_grad():
                m -= 0.1 * gm
                b -= 0.1 * gb
        return [loss.item(), b.item()]

    return run_once


def training_step(batch):
    kernels, x, y = w.build_training_inputs(batch)
    x, y = make_tensor(x), make_tensor(y)
    layers = [torch.nn.Linear(*kernel.shape) for kernel in kernels]
    with torch.no_grad():
        for layer, kernel in zip(layers, kernels, strict=True):
            layer.weight.copy_(make_tensor(kernel.T))
            layer.bias.zero_()
    model = torch.nn.Sequential(layers[0], torch.nn.Tanh(), layers[1], torch.nn.Tanh(), layers[2])
    optimizer, loss_of = torch.optim.Adam(model.parameters(), lr=0.01), torch.nn.BCEWithLogitsLoss()

    def step():
        optimizer.zero_grad()
        loss = loss_of(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    first = [step().item()]
    return lambda: first if step() is not None else None


def hvp(batch):
    x, a, b, u, v = w.build_hvp_inputs(batch)
    x, u, v, a, b = make_tensor(x), make_tensor(u), make_tensor(v), make_tensor(a, True), make_tensor(b, True)

    def run_once():
        loss = ((torch.tanh(x @ a) @ b) ** 2).mean()
        ga, gb = torch.autograd.grad(loss, [a, b], create_graph=True)
        s = (ga * u).sum() + (gb * v).sum()
        ha, hb = torch.autograd.grad(s, [a, b])
        return [ha[0, 0].item(), hb[0, 0].item()]

    return run_once


def derivative(order):
    def run_once():
        x = make_tensor(0.7, True)
        y = torch.sin(x) * x * x * x
        for _ in range(order):
            y = torch.autograd.grad(y, x, create_graph=True)[0]
        return [y.item()]

    return run_once


def jacobian(n):
    x, m = make_tensor(w.build_vector(n)), make_tensor(w.create_rng().standard_normal((n, n)))

    def run_once():
        j = torch.autograd.functional.jacobian(lambda x: torch.tanh(m @ x), x, vectorize=True)
        return [j[0, 0].item(), j[-1, -1].item()]

    return run_once


def persistent(n):
    return build_gradients_run(n, 0.7)


def persistent_arrays(n):
    return build_gradients_run(n, w.build_vector(10))


def build_gradients_run(n, start):
    ones = torch.ones_like(make_tensor(start))

    def run_once():
        x = make_tensor(start, True)
        y, ys = x, []
        for _ in range(n):
            y = torch.sin(y) * x
            ys.append(y)
        gradients = [torch.autograd.grad(y, x, ones, retain_graph=True)[0] for y in ys]
        return [g.numpy().sum().item() for g in gradients][-2:]

    return run_once
