"""Typical PyTorch programs. Recording must not change the returned values by a single bit."""

import torch
import torch.nn.functional as F  # noqa: N812 - as programs call it
from torch import nn

PROGRAMS = {}


def register_program(function):
    PROGRAMS[function.__name__] = function
    return function


def list_gradients(module):
    return [p.grad for p in module.parameters()]


def train_module(module, optimizer, inputs, labels, loss_of, steps=2):
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_of(module(inputs), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss)
    return [*losses, *list_gradients(module), *module.parameters()]


@register_program
def mlp_with_adam():
    net = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 10))
    labels = torch.randint(0, 10, (16,))
    return train_module(net, torch.optim.Adam(net.parameters()), torch.randn(16, 20), labels, F.cross_entropy)


@register_program
def mlp_with_large_weights():
    net = nn.Sequential(nn.Linear(784, 256), nn.Tanh(), nn.Linear(256, 10))
    labels = torch.randint(0, 10, (64,))
    return train_module(net, torch.optim.SGD(net.parameters(), 0.1), torch.randn(64, 784), labels, F.cross_entropy)


@register_program
def cnn_with_batch_norm():
    net = nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 3)
    )
    labels = torch.randint(0, 3, (8,))
    parts = train_module(
        net, torch.optim.SGD(net.parameters(), 0.1, momentum=0.9), torch.randn(8, 1, 8, 8), labels, F.cross_entropy
    )
    return [*parts, net[1].running_mean, net[1].running_var]


@register_program
def lstm():
    net, out = nn.LSTM(3, 5, batch_first=True), nn.Linear(5, 1)
    states, (h, c) = net(torch.randn(2, 4, 3))
    loss = out(states[:, -1]).mean() + h.sum() * c.mean()
    loss.backward()
    return [loss, *list_gradients(net), *list_gradients(out)]


@register_program
def multihead_attention():
    net = nn.MultiheadAttention(8, 2, batch_first=True)
    x = torch.randn(2, 4, 8, requires_grad=True)
    out, weights = net(x, x, x)
    (out.sum() + weights[:, 0].sum()).backward()
    return [out, x.grad, *list_gradients(net)]


@register_program
def gradient_penalty():
    judge = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
    x = torch.randn(6, 3, requires_grad=True)
    (slope,) = torch.autograd.grad(judge(x).sum(), x, create_graph=True)
    penalty = ((slope.norm(2, dim=1) - 1) ** 2).mean()
    penalty.backward()
    return [penalty, slope, *list_gradients(judge)[:-1]]


@register_program
def backward_with_create_graph():
    x = torch.tensor(2.0, requires_grad=True)
    (x**4).backward(create_graph=True)
    slope = x.grad
    x.grad = None
    (slope * 3).backward()
    return slope, x.grad


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x)
        ctx.scale = scale
        return scale * x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * ctx.scale * x * g, None


@register_program
def custom_function():
    x = torch.randn(4, requires_grad=True)
    y = Square.apply(torch.exp(x), 3.0)
    y.sum().backward()
    return y, x.grad


@register_program
def in_place_operations():
    x = torch.randn(4, 3, requires_grad=True)
    y = x * 2
    y.add_(1)
    y[0] = 0.0
    z = y.clone()
    z[:, 1] *= 3
    row = z[2]
    row.mul_(2)
    z = torch.relu_(z)
    loss = z.sum() + y.mean()
    loss.backward()
    return loss, x.grad, z


@register_program
def mixed_dtypes():
    a = torch.randn(4, dtype=torch.float64, requires_grad=True)
    b = torch.randn(4, requires_grad=True)
    c = torch.randn(4, requires_grad=True).to(torch.bfloat16)
    loss = (a * b).sum() + (c * c).float().sum() + (b.half() * 2).sum()
    loss.backward()
    return loss, a.grad, b.grad


@register_program
def autocast():
    net = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 2))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = net(torch.randn(4, 8)).float().pow(2).mean()
    loss.backward()
    return [loss, *list_gradients(net)]


@register_program
def many_outputs():
    x = torch.randn(6, 3, requires_grad=True)
    a, b = x.split([2, 4])
    values, places = b.max(dim=0)
    top, _ = torch.sort(a, dim=1)
    rows = torch.unbind(top)
    loss = values.sum() * rows[0].mean() + torch.std(b)
    loss.backward()
    return loss, x.grad, places


@register_program
def accumulated_gradients():
    net = nn.Linear(5, 3)
    for _ in range(3):
        (net(torch.randn(4, 5)).pow(2).mean() / 3).backward()
    norm = nn.utils.clip_grad_norm_(net.parameters(), 0.1)
    return [norm, *list_gradients(net)]


@register_program
def mesh_einsum_and_where():
    a, b = torch.randn(3, 4, requires_grad=True), torch.randn(4, 5, requires_grad=True)
    c = torch.einsum("ij,jk->ik", a, b)
    loss = torch.where(c > 0, c, 0.1 * c).logsumexp(dim=1).sum() + torch.linalg.norm(a)
    torch.autograd.backward([loss, a.sum()])
    return loss, a.grad, b.grad


@register_program
def sparse_embedding():
    table = nn.Embedding(1000, 16, sparse=True)
    loss = table(torch.tensor([1, 2, 2])).sum() + table(torch.tensor([5])).square().sum()
    loss.backward()
    return loss, table.weight.grad.to_dense()


@register_program
def lazy_layer():
    net = nn.LazyLinear(3)
    loss = net(torch.ones(2, 4)).square().sum()
    loss.backward()
    return [loss, *list_gradients(net)]


@register_program
def hooks_of_the_program():
    w = torch.randn(3, requires_grad=True)
    y = w * 2
    y.register_hook(lambda g: g * 2)
    w.register_hook(lambda g: g + 1)
    y.sum().backward()
    return w.grad, y


@register_program
def transforms_and_jacobians():
    x = torch.randn(3, requires_grad=True)
    slope = torch.func.grad(lambda v: torch.sin(v).sum())(x.detach())
    doubled = torch.func.vmap(lambda v: v * 2)(x)
    matrix = torch.autograd.functional.jacobian(lambda v: v**2, torch.randn(3))
    loss = doubled.square().sum()
    loss.backward()
    return slope, matrix, loss, x.grad


@register_program
def normalized_weights():
    net = nn.utils.parametrizations.weight_norm(nn.Linear(3, 3))
    loss = net(torch.randn(2, 3)).square().sum()
    loss.backward()
    return [loss, *list_gradients(net)]
