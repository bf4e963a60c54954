import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 16))
optimizer = torch.optim.Adam(encoder.parameters(), lr=2e-3)
identity = torch.randn(256, 20)


def augment(x):
    return x + 0.3 * torch.randn_like(x)


def nt_xent(z1, z2, temperature=0.2):
    z = F.normalize(torch.cat([z1, z2]), dim=1)
    n = len(z1)
    similarity = z @ z.t() / temperature
    similarity = similarity.masked_fill(torch.eye(2 * n, dtype=torch.bool), float("-inf"))
    target = torch.cat([torch.arange(n, 2 * n), torch.arange(n)])
    return F.cross_entropy(similarity, target)


def uniformity(z):
    z = F.normalize(z, dim=1)
    # all pairs on purpose: (N, 1, D) - (1, N, D)
    return ((z.unsqueeze(1) - z.unsqueeze(0)) ** 2).sum(-1).mul(-2).exp().mean().log()


for step in range(80):
    batch = identity[torch.randint(0, 256, (64,))]
    z1, z2 = encoder(augment(batch)), encoder(augment(batch))
    loss = nt_xent(z1, z2) + 0.1 * uniformity(z1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        print(f"step {step} loss {loss.item():.4f}")
