import math
import torch
from torch import nn

torch.manual_seed(0)
Z, BATCH = 8, 64


def mlp(i, o, h=64):
    return nn.Sequential(nn.Linear(i, h), nn.LeakyReLU(0.2), nn.Linear(h, h), nn.LeakyReLU(0.2), nn.Linear(h, o))


def real_batch(n):
    angle = torch.rand(n) * 2 * math.pi
    ring = torch.stack([angle.cos(), angle.sin()], dim=1)
    return 2 * ring + 0.05 * torch.randn(n, 2)


G, D = mlp(Z, 2), mlp(2, 1)
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(BATCH, 1), torch.zeros(BATCH, 1)

for step in range(300):
    opt_g.zero_grad()
    opt_d.zero_grad()
    fake = G(torch.randn(BATCH, Z))

    d_loss = bce(D(real_batch(BATCH)), ones) + bce(D(fake.detach()), zeros)
    d_loss.backward()
    opt_d.step()

    g_loss = bce(D(G(torch.randn(BATCH, Z))), ones)
    g_loss.backward()
    opt_g.step()

    if step % 60 == 0:
        with torch.no_grad():
            radius = G(torch.randn(512, Z)).norm(dim=1)
        print(f"{step} d {d_loss.item():.3f} g {g_loss.item():.3f} radius {radius.mean():.3f}")
