import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
rng = np.random.default_rng(0)


def draw(kind, size=16):
    image = rng.normal(0.2, 0.1, (size, size, 3)).astype(np.float32)
    r, c = rng.integers(2, size - 6, 2)
    color = rng.uniform(0.5, 1.0, 3)
    if kind == 0:
        image[r : r + 2, c : c + 6] += color
    else:
        image[r : r + 6, c : c + 2] += color
    return image


class Bars(Dataset):
    def __init__(self, n):
        self.labels = rng.integers(0, 2, n)
        self.images = [draw(k) for k in self.labels]

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        image = torch.from_numpy(self.images[i])
        h, w, c = image.shape
        return image.permute(2, 0, 1), int(self.labels[i])


model = nn.Sequential(
    nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
    nn.Flatten(), nn.Linear(16, 2),
)
train_loader = DataLoader(Bars(512), batch_size=32, shuffle=True)
test_loader = DataLoader(Bars(256), batch_size=64)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(10):
    for images, labels in train_loader:
        loss = criterion(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        hits = [(model(im).argmax(1) == la).float().mean().item() for im, la in test_loader]
    print(f"epoch {epoch} loss {loss.item():.3f} test {np.mean(hits):.3f}")
