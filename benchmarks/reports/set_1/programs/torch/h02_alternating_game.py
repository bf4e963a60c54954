import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 2))
critic = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
g_opt = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.9))
d_opt = torch.optim.Adam(critic.parameters(), lr=2e-3, betas=(0.5, 0.9))

for step in range(50):
    real = torch.randn(64, 2) * 0.2 + torch.tensor([2.0, -1.0])
    fake = generator(torch.randn(64, 3))
    d_loss = F.softplus(-critic(real)).mean() + F.softplus(critic(fake.detach())).mean()
    d_opt.zero_grad()
    d_loss.backward()
    d_opt.step()

    critic.requires_grad_(False)
    g_loss = F.softplus(-critic(fake)).mean()
    g_opt.zero_grad()
    g_loss.backward()
    g_opt.step()
    critic.requires_grad_(True)
    if step % 10 == 9:
        print(step + 1, f"{d_loss.item():.3f} {g_loss.item():.3f}", fake.mean(0).tolist())
