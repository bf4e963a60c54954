import torch
from torch import nn

torch.manual_seed(1)
B, T, D = 64, 12, 6


def make_batch():
    x = torch.randn(B, T, D)
    where = torch.randint(0, T, (B,))
    x[..., 0] = 0.0
    x[torch.arange(B), where, 0] = 3.0
    y = x[torch.arange(B), where, 1:4].sum(dim=1, keepdim=True)
    return x, y


class EventPool(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.encode = nn.Linear(D, hidden)
        self.score = nn.Sequential(nn.Linear(hidden, 16), nn.Tanh(), nn.Linear(16, 1))
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        h = torch.tanh(self.encode(x))
        weights = torch.softmax(self.score(h), dim=1)
        pooled = (weights * h).sum(dim=1)
        return self.out(pooled)


model = EventPool()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
loss_fn = nn.MSELoss()

for step in range(801):
    x, y = make_batch()
    loss = loss_fn(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 200 == 0:
        print(f"step {step} loss {loss.item():.4f}")
