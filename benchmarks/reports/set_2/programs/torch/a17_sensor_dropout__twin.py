import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(27)
weights = torch.randn(20, 3)


def make_readings(n):
    z = torch.randn(n, 20)
    label = (z @ weights + 1.5 * torch.randn(n, 3)).argmax(1)
    return 40.0 + 15.0 * z, label


class SensorNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.BatchNorm1d(20), nn.Linear(20, 128), nn.ReLU(), nn.Dropout(0.5), nn.Linear(128, 3)
        )

    def forward(self, x):
        return self.layers(x)


def validate(model, x, y):
    model.eval()
    with torch.no_grad():
        logits = model(x)
        return nn.functional.cross_entropy(logits, y).item(), (logits.argmax(1) == y).float().mean().item()


train = DataLoader(TensorDataset(*make_readings(160)), batch_size=32, shuffle=True)
val_x, val_y = make_readings(500)
model = SensorNet()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
print("before  val loss %.3f  accuracy %.2f" % validate(model, val_x, val_y))

for epoch in range(40):
    model.train()
    running = 0.0
    for x, y in train:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        running += loss.item() / len(train)
    val_loss, accuracy = validate(model, val_x, val_y)
    if epoch % 8 == 0 or epoch == 39:
        print(f"epoch {epoch:2d}  train {running:.3f}  val {val_loss:.3f}  accuracy {accuracy:.2f}")
