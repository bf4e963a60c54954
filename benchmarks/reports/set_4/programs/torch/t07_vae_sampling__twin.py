import torch
from torch import nn
import torch.nn.functional as F
from torch.distributions import Normal, kl_divergence

torch.manual_seed(3)


class VAE(nn.Module):
    def __init__(self, d=20, hidden=64, latent=4):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(d, hidden), nn.ReLU())
        self.mu = nn.Linear(hidden, latent)
        self.log_var = nn.Linear(hidden, latent)
        self.decoder = nn.Sequential(nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, d))

    def encode(self, x):
        h = self.encoder(x)
        return Normal(self.mu(h), torch.exp(0.5 * self.log_var(h)))

    def forward(self, x):
        q = self.encode(x)
        z = q.rsample()
        return torch.sigmoid(self.decoder(z)), q


codes = torch.randint(0, 2, (1024, 3)).float()
x = torch.sigmoid(4 * (codes @ torch.randn(3, 20)))
vae = VAE()
prior = Normal(0.0, 1.0)
optimizer = torch.optim.Adam(vae.parameters(), lr=2e-3)

for epoch in range(15):
    order = torch.randperm(len(x))
    rec_total = kl_total = 0.0
    for idx in order.split(64):
        batch = x[idx]
        recon, q = vae(batch)
        rec = F.binary_cross_entropy(recon, batch, reduction="sum") / len(batch)
        kl = kl_divergence(q, prior).sum(1).mean()
        loss = rec + 0.1 * kl
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        rec_total += rec.item()
        kl_total += kl.item()
    if epoch % 5 == 4:
        print(f"epoch {epoch} rec {rec_total / 16:.3f} kl {kl_total / 16:.4f}")
