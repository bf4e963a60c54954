import math
import torch
from torch import nn
from torch.func import functional_call
import torch.nn.functional as F

torch.manual_seed(0)
INNER_LR, INNER_STEPS, TASKS = 0.02, 3, 4


def sample_task():
    amplitude = torch.rand(1) * 4 + 0.5
    phase = torch.rand(1) * math.pi

    def batch(n):
        x = torch.rand(n, 1) * 10 - 5
        return x, amplitude * torch.sin(x + phase)

    return batch


model = nn.Sequential(nn.Linear(1, 40), nn.ReLU(), nn.Linear(40, 40), nn.ReLU(), nn.Linear(40, 1))
meta_opt = torch.optim.Adam(model.parameters(), lr=1e-3)


def adapt(weights, x, y):
    for _ in range(INNER_STEPS):
        loss = F.mse_loss(functional_call(model, weights, (x,)), y)
        grads = torch.autograd.grad(loss, list(weights.values()), create_graph=True)
        weights = {
            name: w - INNER_LR * g
            for (name, w), g in zip(weights.items(), grads)
        }
    return weights


for iteration in range(60):
    meta_loss = 0.0
    for _ in range(TASKS):
        task = sample_task()
        x_support, y_support = task(10)
        x_query, y_query = task(10)
        fast = adapt(dict(model.named_parameters()), x_support, y_support)
        meta_loss = meta_loss + F.mse_loss(functional_call(model, fast, (x_query,)), y_query)
    meta_loss = meta_loss / TASKS
    meta_opt.zero_grad()
    meta_loss.backward()
    meta_opt.step()
    if iteration % 20 == 0:
        print(f"iteration {iteration} meta loss {meta_loss.item():.4f}")
