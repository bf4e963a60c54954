"""PyTorch, eager, on one thread."""

from __future__ import annotations

import numpy as np
import torch

from benchmarks import workloads as w

torch.set_num_threads(1)


def tensor(a, grad=False):
    return torch.tensor(a, dtype=torch.float32, requires_grad=grad)


def scalar_ops(n):
    def run():
        x = tensor(3.0, True)
        y = x * x if n == 1 else (x * x + x) * x - x * x
        return [torch.autograd.grad(y, x)[0].item()]

    return run


def chain(n):
    c = tensor(0.1)

    def run():
        x = tensor(0.9, True)
        y = x
        for _ in range(n // 2):
            y = y * x + c
        return [torch.autograd.grad(y, x)[0].item()]

    return run


def micro_mlp(samples):
    layers, xs, ys = w.micro_mlp_inputs(samples)
    layers = [[([tensor(v, True) for v in ws], tensor(b, True)) for ws, b in layer] for layer in layers]
    parameters = [p for layer in layers for ws, b in layer for p in (*ws, b)]

    def run():
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

    return run


def rosenbrock(n):
    x = tensor(w.vector(n), True)

    def run():
        a, b = x[:-1], x[1:]
        y = (100.0 * (b - a * a) ** 2 + (1.0 - a) ** 2).sum()
        g = torch.autograd.grad(y, x)[0]
        return [g[0].item(), g[-1].item()]

    return run


def mlp(batch):
    d = w.mlp_inputs(batch)
    weights, biases = [tensor(m, True) for m in d["weights"]], [tensor(b, True) for b in d["biases"]]
    x, y = tensor(d["x"]), tensor(d["y"])

    def run():
        h = x
        for i, (m, b) in enumerate(zip(weights, biases, strict=True)):
            h = h @ m + b
            if i < 2:
                h = torch.tanh(h)
        loss = ((h - y) ** 2).mean()
        g = torch.autograd.grad(loss, weights + biases)
        return [loss.item(), g[0][0, 0].item(), g[-1][0].item()]

    return run


def elementwise(n):
    x = tensor(w.vector(n), True)

    def run():
        y = x
        for _ in range(5):
            y = torch.tanh(torch.sin(y) * 1.1 + 0.1)
        g = torch.autograd.grad(y.sum(), x)[0]
        return [g[0].item(), g[-1].item()]

    return run


def logistic(steps):
    features, labels = (tensor(a) for a in w.logistic_inputs())

    def run():
        m, b = tensor(np.zeros((20, 1)), True), tensor(0.0, True)
        for _ in range(steps):
            p = torch.sigmoid(features @ m + b)
            loss = -(labels * torch.log(p + 1e-7) + (1.0 - labels) * torch.log(1.0 - p + 1e-7)).mean()
            gm, gb = torch.autograd.grad(loss, [m, b])
            with torch.no_grad():
                m -= 0.1 * gm
                b -= 0.1 * gb
        return [loss.item(), b.item()]

    return run


def training_step(batch):
    kernels, x, y = w.training_inputs(batch)
    x, y = tensor(x), tensor(y)
    layers = [torch.nn.Linear(*kernel.shape) for kernel in kernels]
    with torch.no_grad():
        for layer, kernel in zip(layers, kernels, strict=True):
            layer.weight.copy_(tensor(kernel.T))
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
    x, a, b, u, v = w.hvp_inputs(batch)
    x, u, v, a, b = tensor(x), tensor(u), tensor(v), tensor(a, True), tensor(b, True)

    def run():
        loss = ((torch.tanh(x @ a) @ b) ** 2).mean()
        ga, gb = torch.autograd.grad(loss, [a, b], create_graph=True)
        s = (ga * u).sum() + (gb * v).sum()
        ha, hb = torch.autograd.grad(s, [a, b])
        return [ha[0, 0].item(), hb[0, 0].item()]

    return run


def derivative(order):
    def run():
        x = tensor(0.7, True)
        y = torch.sin(x) * x * x * x
        for _ in range(order):
            y = torch.autograd.grad(y, x, create_graph=True)[0]
        return [y.item()]

    return run


def jacobian(n):
    x, m = tensor(w.vector(n)), tensor(w.rng().standard_normal((n, n)))

    def run():
        j = torch.autograd.functional.jacobian(lambda x: torch.tanh(m @ x), x, vectorize=True)
        return [j[0, 0].item(), j[-1, -1].item()]

    return run


def persistent(n):
    return _outputs(n, 0.7)


def persistent_arrays(n):
    return _outputs(n, w.vector(10))


def _outputs(n, start):
    ones = torch.ones_like(tensor(start))

    def run():
        x = tensor(start, True)
        y, ys = x, []
        for _ in range(n):
            y = torch.sin(y) * x
            ys.append(y)
        gradients = [torch.autograd.grad(y, x, ones, retain_graph=True)[0] for y in ys]
        return [g.numpy().sum().item() for g in gradients][-2:]

    return run
