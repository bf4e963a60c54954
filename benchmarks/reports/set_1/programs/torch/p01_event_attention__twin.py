import math
import torch
from torch import nn


class EventEncoder(nn.Module):
    def __init__(self, dim=12):
        super().__init__()
        self.query = nn.Parameter(torch.randn(dim) / math.sqrt(dim))
        self.key = nn.Linear(dim, dim)
        self.value = nn.Linear(dim, dim)
        self.out = nn.Linear(dim, 1)

    def forward(self, events, lengths):
        positions = torch.arange(events.shape[1])
        padding = positions[None, :] >= lengths[:, None]
        scores = self.key(events) @ self.query
        scores = scores.masked_fill(padding, -1e9)
        weights = scores.softmax(dim=-1)
        pooled = (weights.unsqueeze(-1) * self.value(events)).sum(1)
        return self.out(pooled).squeeze(-1)


torch.manual_seed(3)
events = torch.randn(64, 7, 12)
lengths = torch.randint(0, 8, (64,))
keep = torch.arange(7)[None, :] < lengths[:, None]
target = (events[..., 0] * keep).sum(1) / lengths.clamp(min=1)

model = EventEncoder()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(30):
    rows = torch.randint(0, 64, (32,))
    prediction = model(events[rows], lengths[rows])
    has_events = lengths[rows] > 0
    error = torch.where(has_events, (prediction - target[rows]) ** 2, torch.zeros(()))
    loss = error.sum() / has_events.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0 or step == 29:
        print(step, round(loss.item(), 4))
