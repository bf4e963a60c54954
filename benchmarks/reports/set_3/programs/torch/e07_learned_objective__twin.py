import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
INNER_LR = 0.2


def sample_task():
    slope = torch.randn(3, 1)
    xs, xq = torch.randn(20, 3), torch.randn(20, 3)
    return xs, xs @ slope, xq, xq @ slope


objective = nn.Sequential(nn.Linear(2, 24), nn.Softplus(), nn.Linear(24, 1), nn.Softplus())
theta0 = nn.Parameter(torch.zeros(3, 1))
optimizer = torch.optim.Adam(list(objective.parameters()) + [theta0], lr=5e-3)


def adapt(xs, ys):
    theta = theta0
    for _ in range(3):
        pred = xs @ theta
        inner = objective(torch.cat([pred, ys], dim=1)).mean()
        grad, = torch.autograd.grad(inner, [theta], create_graph=True)
        theta = theta - INNER_LR * grad
    return theta


history = []
for it in range(301):
    outer = 0.0
    for _ in range(4):
        xs, ys, xq, yq = sample_task()
        theta = adapt(xs, ys)
        outer = outer + F.mse_loss(xq @ theta, yq) / 4
    optimizer.zero_grad()
    outer.backward()
    optimizer.step()
    history.append(outer.item())
    if it % 60 == 0:
        print(f"iteration {it} query loss {sum(history[-30:]) / len(history[-30:]):.4f}")
