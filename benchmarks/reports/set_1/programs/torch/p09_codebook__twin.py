import torch
from torch import nn
import torch.nn.functional as F


class VectorQuantizer(nn.Module):
    def __init__(self, n_codes=16, dim=4):
        super().__init__()
        self.codes = nn.Embedding(n_codes, dim)

    def forward(self, z):
        distances = torch.cdist(z, self.codes.weight)
        index = distances.argmin(dim=1)
        quantized = self.codes(index)
        codebook_loss = F.mse_loss(quantized, z.detach())
        return z + (quantized - z).detach(), codebook_loss + F.mse_loss(z, quantized.detach())


torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 4))
quantizer = VectorQuantizer()
decoder = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 10))
modules = nn.ModuleList([encoder, quantizer, decoder])
optimizer = torch.optim.Adam(modules.parameters(), lr=1e-2)

basis = torch.randn(3, 10)
for step in range(60):
    x = torch.randn(64, 3) @ basis / 2
    code, codebook_loss = quantizer(encoder(x))
    reconstruction = F.mse_loss(decoder(code), x)
    loss = reconstruction + codebook_loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        print(step + 1, round(reconstruction.item(), 3))
