import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
IDENTITIES, PER_ID, DIM = 20, 6, 24


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(DIM, 64), nn.ReLU(), nn.Linear(64, 16))

    def forward(self, x):
        return self.net(x)


def distance(a, b):
    return torch.sqrt(((a - b) ** 2).sum(dim=1) + 1e-8)


def contrastive_loss(d, same, margin=1.0):
    return (same * d**2 + (1 - same) * F.relu(margin - d) ** 2).mean()


prototypes = torch.randn(IDENTITIES, DIM)
gallery = prototypes.unsqueeze(1) + 0.3 * torch.randn(IDENTITIES, PER_ID, DIM)


def sample_pairs(n):
    left_id = torch.randint(0, IDENTITIES, (n,))
    same = (torch.rand(n) < 0.5).float()
    other = (left_id + torch.randint(1, IDENTITIES, (n,))) % IDENTITIES
    right_id = torch.where(same.bool(), left_id, other)
    left = gallery[left_id, torch.randint(0, PER_ID, (n,))]
    right = gallery[right_id, torch.randint(0, PER_ID, (n,))]
    return left, right, same


encoder = Encoder()
optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-3)
for step in range(200):
    left, right, same = sample_pairs(32)
    loss = contrastive_loss(distance(encoder(left), encoder(right)), same)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 0:
        print(f"step {step} loss {loss.item():.4f}")
