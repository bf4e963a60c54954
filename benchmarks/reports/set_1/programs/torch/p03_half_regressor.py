import torch
from torch import nn

torch.manual_seed(0)
dtype = torch.float16
x = torch.randn(256, 10)
x[:, 7:] = 0.0
y = x[:, :1] - 0.5 * x[:, 1:2]

model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1)).to(dtype)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
x, y = x.to(dtype), y.to(dtype)

for step in range(40):
    rows = torch.randperm(256)[:64]
    loss = (model(x[rows]) - y[rows]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 8 == 0:
        print(f"step {step:2d}  loss {loss.item():.4f}")
