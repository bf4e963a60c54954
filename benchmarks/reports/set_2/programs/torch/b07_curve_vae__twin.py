import torch
import torch.nn as nn
from torch.distributions import Normal, kl_divergence

torch.manual_seed(1)
grid = torch.linspace(0, 3, 20)


def make_curves(n):
    amp = 0.5 + torch.rand(n, 1) * 2
    shift = torch.rand(n, 1) * 2
    return amp * torch.sin(grid + shift)


class CurveVAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(20, 48), nn.ReLU(), nn.Linear(48, 4))
        self.decoder = nn.Sequential(nn.Linear(2, 48), nn.ReLU(), nn.Linear(48, 20))

    def forward(self, x):
        mu, log_var = self.encoder(x).chunk(2, dim=-1)
        posterior = Normal(mu, torch.exp(0.5 * log_var))
        z = posterior.rsample()
        return self.decoder(z), posterior


model = CurveVAE()
prior = Normal(torch.zeros(2), torch.ones(2))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

for step in range(1001):
    x = make_curves(64)
    recon, posterior = model(x)
    recon_loss = (recon - x).pow(2).sum(-1).mean() / 0.2
    kl = kl_divergence(posterior, prior).sum(-1).mean()
    loss = recon_loss + kl
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 200 == 0:
        print(step, "loss", round(loss.item(), 3), "recon", round(recon_loss.item(), 3), "kl", round(kl.item(), 4))
