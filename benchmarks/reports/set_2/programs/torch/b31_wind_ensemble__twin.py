import copy
import torch
import torch.nn as nn
from torch.func import functional_call, stack_module_state, vmap

torch.manual_seed(32)
n_members = 5


def wind(n):
    x = torch.rand(n, 3) * 2 - 1
    y = torch.sin(3 * x[:, :1]) + x[:, 1:2] ** 2 + 0.05 * torch.randn(n, 1)
    return x, y


def make_member():
    return nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))


members = [make_member() for _ in range(n_members)]
params, buffers = stack_module_state(members)
skeleton = copy.deepcopy(members[0]).to("meta")


def single(p, b, x):
    return functional_call(skeleton, (p, b), (x,))


weights = list(params.values())
optimizer = torch.optim.Adam(weights, lr=1e-2)

for step in range(401):
    x, y = wind(64)
    prediction = vmap(single, in_dims=(0, 0, None))(params, buffers, x)
    loss = (prediction - y).pow(2).mean(dim=(1, 2)).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 80 == 0:
        print(step, "ensemble loss", round(loss.item() / n_members, 4))
