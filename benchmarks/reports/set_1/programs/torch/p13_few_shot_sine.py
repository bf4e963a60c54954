import copy
import torch
from torch import nn

torch.manual_seed(0)
learner = nn.Sequential(nn.Linear(1, 40), nn.Tanh(), nn.Linear(40, 1))
meta_optimizer = torch.optim.Adam(learner.parameters(), lr=1e-2)


def sample_task():
    amplitude, phase = 1 + 2 * torch.rand(1), 3 * torch.rand(1)
    return lambda x: amplitude * torch.sin(x + phase)


for iteration in range(40):
    meta_optimizer.zero_grad()
    total = 0.0
    for _ in range(4):
        task = sample_task()
        support, query = 6 * torch.rand(10, 1) - 3, 6 * torch.rand(10, 1) - 3
        fast = copy.deepcopy(learner)
        inner = torch.optim.SGD(fast.parameters(), lr=0.02)
        for _ in range(3):
            inner.zero_grad()
            (fast(support) - task(support)).pow(2).mean().backward()
            inner.step()
        inner.zero_grad()
        query_loss = (fast(query) - task(query)).pow(2).mean() / 4
        query_loss.backward()
        total += query_loss.item()
    meta_optimizer.step()
    if iteration % 10 == 0:
        print(iteration, round(total, 3))
