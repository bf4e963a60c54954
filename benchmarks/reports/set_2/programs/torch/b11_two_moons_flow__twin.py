import math
import torch
import torch.nn as nn

torch.manual_seed(9)


def moons(n):
    t = torch.rand(n) * math.pi
    upper = torch.stack([t.cos(), t.sin()], 1)
    lower = torch.stack([1 - t.cos(), 0.5 - t.sin()], 1)
    pick = (torch.rand(n, 1) < 0.5).float()
    return pick * upper + (1 - pick) * lower + 0.08 * torch.randn(n, 2)


class Coupling(nn.Module):
    def __init__(self, flip):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 2))

    def forward(self, x):
        a, b = x.chunk(2, dim=1)
        if self.flip:
            a, b = b, a
        s, t = self.net(a).chunk(2, dim=1)
        s = 2 * torch.tanh(s)
        b = b * torch.exp(s) + t
        out = torch.cat([b, a], 1) if self.flip else torch.cat([a, b], 1)
        return out, s.sum(dim=1)


layers = nn.ModuleList([Coupling(i % 2 == 1) for i in range(6)])
optimizer = torch.optim.Adam(layers.parameters(), lr=2e-3)

for step in range(401):
    z = moons(128)
    log_det = torch.zeros(z.shape[0])
    for layer in layers:
        z, ld = layer(z)
        log_det = log_det + ld
    log_prob = -0.5 * (z ** 2).sum(1) - math.log(2 * math.pi) + log_det
    nll = -log_prob.mean()
    optimizer.zero_grad()
    nll.backward()
    optimizer.step()
    if step % 100 == 0:
        print(step, "nll", round(nll.item(), 3), "latent std", round(z.std().item(), 3))
