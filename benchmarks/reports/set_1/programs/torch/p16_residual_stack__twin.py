import torch
from torch import nn


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))

    def forward(self, x):
        return x + self.inner(x)


class Stack(nn.Module):
    def __init__(self, width=16, depth=4):
        super().__init__()
        self.enter = nn.Linear(2, width)
        self.blocks = nn.ModuleList([Residual(width) for _ in range(depth)])
        self.leave = nn.Linear(width, 1)

    def forward(self, x):
        x = self.enter(x)
        for block in self.blocks:
            x = block(x)
        return self.leave(x)


torch.manual_seed(0)
model = Stack()
x = 2 * torch.rand(256, 2) - 1
y = torch.sin(6 * x[:, :1]) * torch.cos(4 * x[:, 1:])
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(60):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        print(step + 1, round(loss.item(), 4))
print("parameters:", sum(p.numel() for p in model.parameters()))
