import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(8 * 16, 1))
optimizer = torch.optim.Adam(critic.parameters(), lr=2e-3, betas=(0.0, 0.9))


def penalty(real, fake):
    mix = torch.rand(real.shape[0], 1, 1, 1)
    point = (mix * real + (1 - mix) * fake).requires_grad_(True)
    score = critic(point)
    slope, = torch.autograd.grad(score.sum(), point, create_graph=True)
    return ((slope.norm(2, dim=1) - 1) ** 2).mean()


def images(n, width):
    grid = torch.linspace(-1, 1, 8)
    center = 0.3 * torch.randn(n, 2, 1, 1)
    return torch.exp(-((grid[:, None] - center[:, :1]) ** 2 + (grid[None] - center[:, 1:]) ** 2) / width)


for step in range(40):
    real, fake = images(32, 0.1), images(32, 0.4)
    gap = critic(real).mean() - critic(fake).mean()
    gp = penalty(real, fake)
    loss = -gap + 10 * gp
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print(step + 1, f"gap {gap.item():.3f} penalty {gp.item():.3f}")
