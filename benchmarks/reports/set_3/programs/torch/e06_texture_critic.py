import torch
from torch import nn

torch.manual_seed(4)
LAMBDA = 10.0


def real_batch(n):
    phase = torch.rand(n, 1, 1, 1) * 6.28
    grid = torch.arange(8).float().view(1, 1, 1, 8)
    return torch.sin(grid + phase).expand(n, 1, 8, 8) + 0.1 * torch.randn(n, 1, 8, 8)


generator = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 64), nn.Unflatten(1, (1, 8, 8)))
critic = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.LeakyReLU(0.2), nn.Flatten(),
                       nn.Linear(512, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
opt_g = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.0, 0.9))
opt_c = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.0, 0.9))


def penalty(real, fake):
    alpha = torch.rand(real.size(0), 1, 1, 1)
    mixed = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    out = critic(mixed)
    gradients = torch.autograd.grad(out, mixed, torch.ones_like(out), create_graph=True)[0]
    slope = gradients.detach().flatten(1).norm(dim=1).mean().item()
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean() * LAMBDA, slope


for step in range(241):
    real = real_batch(32)
    fake = generator(torch.randn(32, 8)).detach()
    gp, slope = penalty(real, fake)
    c_loss = critic(fake).mean() - critic(real).mean() + gp
    opt_c.zero_grad()
    c_loss.backward()
    opt_c.step()
    if step % 3 == 0:
        g_loss = -critic(generator(torch.randn(32, 8))).mean()
        opt_g.zero_grad()
        g_loss.backward()
        opt_g.step()
    if step % 60 == 0:
        print(f"step {step} critic {c_loss.item():.3f} penalty {gp.item():.3f} slope {slope:.3f}")
