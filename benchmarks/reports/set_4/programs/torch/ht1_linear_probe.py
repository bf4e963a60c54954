import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
# Linear probe: the pretrained backbone stays frozen and in eval mode; only the probe trains.
backbone = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(),
    nn.Conv2d(8, 16, 3, padding=1, stride=2), nn.BatchNorm2d(16), nn.ReLU(), nn.Flatten(),
)
for p in backbone.parameters():
    p.requires_grad_(False)
backbone.eval()
probe = nn.Linear(16 * 6 * 6, 3)

y = torch.randint(0, 3, (384,))
x = torch.randn(384, 1, 12, 12) + torch.randn(3, 1, 12, 12)[y]
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
optimizer = torch.optim.AdamW(probe.parameters(), lr=3e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(4):
    probe.train()
    for xb, yb in loader:
        with torch.no_grad():
            features = backbone(xb)
        loss = criterion(probe(features), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        accuracy = (probe(backbone(x)).argmax(1) == y).float().mean()
    print(f"epoch {epoch} loss {loss.item():.3f} accuracy {accuracy:.3f}")
