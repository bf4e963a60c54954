import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class SmallResNet(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU())
        self.block = nn.Sequential(
            nn.Conv2d(16, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
            nn.Conv2d(16, 16, 3, padding=1), nn.BatchNorm2d(16),
        )
        self.fc = nn.Linear(16, num_classes)

    def forward(self, x):
        h = self.stem(x)
        h = torch.relu(h + self.block(h))
        return self.fc(h.mean(dim=(2, 3)))


def build(num_classes, lr):
    model = SmallResNet(num_classes=1000)
    model.fc = nn.Linear(model.fc.in_features, num_classes)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9, weight_decay=1e-4)
    return model, optimizer


labels = torch.randint(0, 5, (320,))
images = torch.randn(320, 3, 12, 12) * 0.5
images += labels.view(-1, 1, 1, 1) * 0.2
images[:, 0] -= (labels % 2).view(-1, 1, 1) * 0.5
loader = DataLoader(TensorDataset(images, labels), batch_size=32, shuffle=True)

model, optimizer = build(num_classes=5, lr=0.02)
criterion = nn.CrossEntropyLoss()
for epoch in range(5):
    model.train()
    correct = total = 0
    for xb, yb in loader:
        optimizer.zero_grad()
        out = model(xb)
        loss = criterion(out, yb)
        loss.backward()
        optimizer.step()
        correct += (out.argmax(1) == yb).sum().item()
        total += len(yb)
    print(f"epoch {epoch} loss {loss.item():.3f} acc {correct / total:.3f}")
print("fc norm", model.fc.weight.norm().item())
