import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


def build_model(d):
    return nn.Sequential(
        nn.Linear(d, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.3),
        nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.3),
        nn.Linear(64, 3),
    )


def evaluate(model, loader):
    model.eval()
    correct = total = 0
    with torch.no_grad():
        for xb, yb in loader:
            correct += (model(xb).argmax(1) == yb).sum().item()
            total += len(yb)
    return correct / total


centers = 2 * torch.randn(3, 12)
y = torch.randint(0, 3, (900,))
x = 5 + 10 * (centers[y] + torch.randn(900, 12))
train_loader = DataLoader(TensorDataset(x[:600], y[:600]), batch_size=50, shuffle=True)
val_loader = DataLoader(TensorDataset(x[600:], y[600:]), batch_size=100)

model = build_model(12)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
criterion = nn.CrossEntropyLoss()

model.train()
for epoch in range(8):
    running = 0.0
    for xb, yb in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        running += loss.item()
    accuracy = evaluate(model, val_loader)
    print(f"epoch {epoch} loss {running / len(train_loader):.3f} val {accuracy:.3f}")
