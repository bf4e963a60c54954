import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
discriminator = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
g_opt = torch.optim.Adam(generator.parameters(), lr=2e-3)
d_opt = torch.optim.Adam(discriminator.parameters(), lr=2e-3)


def real_batch(n):
    centers = torch.tensor([[2.0, 0.0], [-2.0, 0.0]])
    return centers[torch.randint(0, 2, (n,))] + 0.1 * torch.randn(n, 2)


for step in range(60):
    real = real_batch(64)
    fake = generator(torch.randn(64, 4))
    real_score, fake_score = discriminator(real), discriminator(fake.detach())
    d_loss = F.softplus(-real_score).mean() + F.softplus(fake_score).mean()
    d_opt.zero_grad()
    d_loss.backward()
    d_opt.step()

    g_loss = F.softplus(-discriminator(fake)).mean()
    g_opt.zero_grad()
    g_loss.backward()
    g_opt.step()
    if step % 20 == 19:
        print(step + 1, f"d {d_loss.item():.3f} g {g_loss.item():.3f}")
