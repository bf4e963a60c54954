import torch
from torch import nn


class Quantized(nn.Module):
    def __init__(self, n_in, n_out, bits=4):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(n_out, n_in) / n_in ** 0.5)
        self.levels = 2 ** (bits - 1) - 1

    def forward(self, x):
        scale = self.weight.abs().max().detach() / self.levels
        rounded = (self.weight / scale).round() * scale
        return x @ (self.weight + (rounded - self.weight).detach()).T


torch.manual_seed(0)
net = nn.Sequential(Quantized(6, 32), nn.ReLU(), Quantized(32, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
x = torch.randn(256, 6)
y = x[:, :1].abs() - x[:, 1:2]
for step in range(60):
    loss = (net(x) - y).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 15 == 14:
        print(step + 1, round(loss.item(), 4))
