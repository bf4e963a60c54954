import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 1, 3, padding=1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)


def dice_loss(probability, mask, eps=1.0):
    prediction = probability
    overlap = (prediction * mask).sum((1, 2, 3))
    size = prediction.sum((1, 2, 3)) + mask.sum((1, 2, 3))
    return 1 - ((2 * overlap + eps) / (size + eps)).mean()


def batch(n=16):
    yy, xx = torch.meshgrid(torch.arange(16), torch.arange(16), indexing="ij")
    cy, cx = torch.randint(3, 13, (2, n, 1, 1))
    mask = (((yy - cy) ** 2 + (xx - cx) ** 2) < 9).float().unsqueeze(1)
    return mask + 0.4 * torch.randn(n, 1, 16, 16), mask


for step in range(40):
    image, mask = batch()
    logits = net(image)
    bce = F.binary_cross_entropy_with_logits(logits, mask)
    dice = dice_loss(torch.sigmoid(logits), mask)
    loss = 0.3 * bce + dice
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print(step + 1, f"bce {bce.item():.3f} dice {dice.item():.3f}")
