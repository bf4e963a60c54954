import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(4)
basis = torch.randn(3, 64)


def spectra(n):
    return torch.tanh(torch.randn(n, 3) @ basis * 0.7)


class SpectraVAE(nn.Module):
    def __init__(self, dim=64, latent=3):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(dim, 64), nn.ReLU())
        self.mu = nn.Linear(64, latent)
        self.logvar = nn.Linear(64, latent)
        self.dec = nn.Sequential(nn.Linear(latent, 64), nn.ReLU(), nn.Linear(64, dim))

    def forward(self, x):
        h = self.enc(x)
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.dec(z), mu, logvar


def elbo_loss(recon, x, mu, logvar):
    recon_loss = F.mse_loss(recon, x, reduction="sum")
    kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return recon_loss + kl, recon_loss, kl


model = SpectraVAE()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for step in range(801):
    x = spectra(64)
    recon, mu, logvar = model(x)
    loss, recon_loss, kl = elbo_loss(recon, x, mu, logvar)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 200 == 0:
        per_value = F.mse_loss(recon, x).item()
        print(step, "loss", round(loss.item(), 3), "mse per value", round(per_value, 4), "mu std", round(mu.std().item(), 4))
