import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(0)
torch.manual_seed(0)
labels = rng.integers(0, 2, size=200)
pixels = rng.integers(0, 120, size=(200, 8, 8))
pixels[labels == 1, :4] += 90
pixels = pixels.astype(np.uint8)


def to_tensor(images):
    scaled = (images / 255.0).astype(images.dtype)
    return torch.from_numpy(scaled).float().unsqueeze(1)


x, y = to_tensor(pixels), torch.from_numpy(labels)
model = nn.Sequential(nn.Conv2d(1, 6, 3), nn.ReLU(), nn.Flatten(), nn.Linear(6 * 36, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(40):
    rows = torch.randint(0, 200, (50,))
    loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print(step + 1, round(loss.item(), 3))
