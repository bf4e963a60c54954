import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
centers = torch.randn(8, 12) * 2
data = centers[torch.randint(0, 8, (512,))] + 0.1 * torch.randn(512, 12)


class Quantizer(nn.Module):
    def __init__(self, n_codes=16, dim=4, decay=0.9):
        super().__init__()
        self.decay = decay
        self.register_buffer("codes", torch.randn(n_codes, dim))
        self.register_buffer("count", torch.ones(n_codes))
        self.register_buffer("total", self.codes.clone())

    def forward(self, z):
        index = torch.cdist(z.detach(), self.codes).argmin(1)
        q = self.codes[index]
        if self.training:
            with torch.no_grad():
                one_hot = F.one_hot(index, self.codes.size(0)).float()
                self.count.mul_(self.decay).add_(one_hot.sum(0), alpha=1 - self.decay)
                self.total.mul_(self.decay).add_(one_hot.t() @ z, alpha=1 - self.decay)
                self.codes = self.total / self.count.clamp_min(1e-3).unsqueeze(1)
        commitment = F.mse_loss(z, q.detach())
        return z + (q - z).detach(), commitment


encoder = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 4))
decoder = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 12))
quantizer = Quantizer()
params = list(encoder.parameters()) + list(decoder.parameters())
optimizer = torch.optim.Adam(params, lr=3e-3)

for step in range(401):
    x = data[torch.randint(0, 512, (128,))]
    z_q, commitment = quantizer(encoder(x))
    recon = F.mse_loss(decoder(z_q), x)
    loss = recon + 0.25 * commitment
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        print(f"step {step} recon {recon.item():.4f} commitment {commitment.item():.4f}")
