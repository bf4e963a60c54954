import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(42)


def real_batch(n):
    x = torch.randn(n, 1)
    return torch.cat([x, 0.5 * x + 1], dim=1) + 0.05 * torch.randn(n, 2)


gen = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 2))
disc = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
opt_g = torch.optim.Adam(gen.parameters(), lr=2e-3, betas=(0.5, 0.99))
opt_d = torch.optim.Adam(disc.parameters(), lr=2e-3, betas=(0.5, 0.99))

for step in range(801):
    disc.requires_grad_(True)
    real = real_batch(64)
    fake = gen(torch.randn(64, 3)).detach()
    score_real, score_fake = disc(real), disc(fake)
    d_loss = F.binary_cross_entropy_with_logits(score_real, torch.full_like(score_real, 0.9))
    d_loss = d_loss + F.binary_cross_entropy_with_logits(score_fake, torch.zeros_like(score_fake))
    opt_d.zero_grad(set_to_none=True)
    d_loss.backward()
    opt_d.step()

    disc.requires_grad_(False)
    score = disc(gen(torch.randn(64, 3)))
    g_loss = F.binary_cross_entropy_with_logits(score, torch.ones_like(score))
    opt_g.zero_grad(set_to_none=True)
    g_loss.backward()
    opt_g.step()
    if step % 200 == 0:
        with torch.no_grad():
            out = gen(torch.randn(500, 3))
        off = (out[:, 1] - 0.5 * out[:, 0] - 1).abs().mean().item()
        print(step, "d", round(d_loss.item(), 3), "g", round(g_loss.item(), 3), "distance to line", round(off, 3))
