import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(10)
rng = np.random.default_rng(10)


def render(size=16):
    mask = np.zeros((size, size), dtype=np.uint8)
    start = rng.integers(2, size - 5)
    mask[:, start:start + 3] = 255
    image = rng.integers(0, 120, (size, size)) + (mask > 0) * 90
    return image.astype(np.uint8), mask


class RoadDataset(Dataset):
    def __init__(self, count):
        self.pairs = [render() for _ in range(count)]

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, index):
        image, mask = self.pairs[index]
        image = torch.from_numpy(image).float().unsqueeze(0) / 255
        mask = torch.from_numpy(mask).float().unsqueeze(0)
        return image, mask


loader = DataLoader(RoadDataset(64), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Conv2d(1, 8, 5, padding=2), nn.ReLU(), nn.Conv2d(8, 1, 5, padding=2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.BCEWithLogitsLoss()

for epoch in range(20):
    hits, total = 0, 0
    for image, mask in loader:
        optimizer.zero_grad()
        logits = model(image)
        loss = criterion(logits, mask)
        loss.backward()
        optimizer.step()
        hits += ((logits > 0) == (mask > 0)).sum().item()
        total += mask.numel()
    if epoch % 4 == 0 or epoch == 19:
        print(f"epoch {epoch:2d}  loss {loss.item():.3f}  pixel accuracy {hits / total:.3f}")
