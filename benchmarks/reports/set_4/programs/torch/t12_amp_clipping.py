import torch
from torch import nn
from torch.amp import GradScaler, autocast
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
device = "cpu"


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(20, 64), nn.LayerNorm(64), nn.GELU(),
            nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 1),
        )

    def forward(self, x):
        return self.layers(x).squeeze(-1)


x = torch.randn(1024, 20)
y = (x[:, :5] ** 2).sum(1) - 5 + torch.sin(3 * x[:, 6])
loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True)

model = Net().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
scaler = GradScaler(device)
criterion = nn.MSELoss()
max_norm = 1.0

for epoch in range(6):
    model.train()
    running = 0.0
    for xb, yb in loader:
        optimizer.zero_grad(set_to_none=True)
        with autocast(device, dtype=torch.bfloat16):
            pred = model(xb)
            loss = criterion(pred.float(), yb)
        scaler.scale(loss).backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
        running += loss.item()
    print(f"epoch {epoch} train mse {running / len(loader):.4f}")
