import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(25)
mixing = torch.randn(2, 20)


def signals(n):
    latent = torch.rand(n, 2) * 2 - 1
    return torch.sin(2 * latent) @ mixing + 0.5 * torch.randn(n, 20)


class Codec(nn.Module):
    def __init__(self, levels=8):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 2))
        self.decoder = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 20))
        self.levels = levels

    def quantize(self, code):
        code = torch.tanh(code)
        return torch.round(code * self.levels) / self.levels

    def forward(self, x):
        return self.decoder(self.quantize(self.encoder(x)))


codec = Codec()
optimizer = torch.optim.Adam(codec.parameters(), lr=4e-3)
for step in range(501):
    x = signals(64)
    loss = F.mse_loss(codec(x), x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        print(step, "reconstruction", round(loss.item(), 4))
