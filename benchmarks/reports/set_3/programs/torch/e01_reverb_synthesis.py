import torch
from torch import nn

torch.manual_seed(3)
BANDS, LOW = 16, 8
room = torch.randn(6, BANDS) * 0.6


def make_batch(n):
    cond = torch.randn(n, 6)
    spec = torch.tanh(cond @ room) + 0.05 * torch.randn(n, BANDS)
    return cond, spec


generator = nn.Sequential(nn.Linear(6, 48), nn.ReLU(), nn.Linear(48, BANDS))
discriminator = nn.Sequential(nn.Linear(BANDS + 6, 48), nn.LeakyReLU(0.2), nn.Linear(48, 1))
opt_g = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.9))
opt_d = torch.optim.Adam(discriminator.parameters(), lr=2e-3, betas=(0.5, 0.9))
mse = nn.MSELoss()


def score(spec, cond):
    return discriminator(torch.cat([spec, cond], dim=1))


for step in range(601):
    cond, real = make_batch(64)

    fake = generator(cond)
    opt_d.zero_grad()
    d_real = score(real, cond)
    d_fake = score(fake.detach(), cond)
    d_loss = mse(d_real, torch.ones_like(d_real)) + mse(d_fake, torch.zeros_like(d_fake))
    d_loss.backward()
    opt_d.step()

    opt_g.zero_grad()
    d_fake2 = score(fake.detach(), cond)
    adv_loss = mse(d_fake2, torch.ones_like(d_fake2))
    low_loss = mse(fake[:, :LOW], real[:, :LOW])
    g_loss = adv_loss + 10.0 * low_loss
    g_loss.backward()
    opt_g.step()

    if step % 150 == 0:
        with torch.no_grad():
            high = mse(generator(cond)[:, LOW:], real[:, LOW:]).item()
        print(f"step {step} d {d_loss.item():.3f} adv {adv_loss.item():.3f} "
              f"low {low_loss.item():.4f} high {high:.4f}")
