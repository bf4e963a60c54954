import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(43)
prototypes = torch.randn(6, 10) * 1.5


class MovingCodebook(nn.Module):
    def __init__(self, n_codes=8, dim=3, decay=0.9):
        super().__init__()
        self.register_buffer("codes", torch.randn(n_codes, dim))
        self.register_buffer("count", torch.ones(n_codes))
        self.register_buffer("total", self.codes.clone())
        self.decay = decay

    def forward(self, z):
        index = torch.cdist(z.detach(), self.codes).argmin(dim=1)
        if self.training:
            hits = F.one_hot(index, self.codes.shape[0]).float()
            with torch.no_grad():
                self.count.mul_(self.decay).add_(hits.sum(0), alpha=1 - self.decay)
                self.total.mul_(self.decay).add_(hits.T @ z.detach(), alpha=1 - self.decay)
                self.codes.copy_(self.total / self.count.clamp(min=1e-3).unsqueeze(1))
        picked = self.codes[index]
        commit = F.mse_loss(z, picked)
        return z + (picked - z).detach(), commit


encoder = nn.Sequential(nn.Linear(10, 24), nn.ReLU(), nn.Linear(24, 3))
decoder = nn.Sequential(nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, 10))
book = MovingCodebook()
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=3e-3)

for step in range(601):
    x = prototypes[torch.randint(0, 6, (64,))] + 0.1 * torch.randn(64, 10)
    z_q, commit = book(encoder(x))
    recon = F.mse_loss(decoder(z_q), x)
    loss = recon + 0.25 * commit
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 120 == 0:
        print(step, "recon", round(recon.item(), 4), "commit", round(commit.item(), 4))
