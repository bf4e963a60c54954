import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(41)
content = torch.randn(256, 6) @ torch.randn(6, 24)


def view(x):
    keep = (torch.rand_like(x) > 0.2).float()
    return x * keep + 0.3 * torch.randn_like(x)


class SiameseLearner(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Linear(24, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, dim)
        )
        self.predictor = nn.Sequential(nn.Linear(dim, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, dim))

    def forward(self, first, second):
        z1, z2 = self.encoder(first), self.encoder(second)
        return self.predictor(z1), self.predictor(z2), z1, z2


def agreement(p, z):
    return -F.cosine_similarity(p, z.detach(), dim=1).mean()


model = SiameseLearner()
optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)

for step in range(200):
    optimizer.zero_grad()
    p1, p2, z1, z2 = model(view(content), view(content))
    loss = 0.5 * (agreement(p1, z2) + agreement(p2, z1))
    loss.backward()
    optimizer.step()
    if step % 40 == 0 or step == 199:
        spread = F.normalize(z1.detach(), dim=1).std(0).mean().item()
        print(f"step {step:3d}  loss {loss.item():.4f}  embedding spread {spread:.4f}")
