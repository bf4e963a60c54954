import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class MultiTask(nn.Module):
    def __init__(self, n_features, n_tasks, width=32):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Linear(n_features, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU()
        )
        self.heads = [nn.Linear(width, 1) for _ in range(n_tasks)]

    def forward(self, x):
        h = self.trunk(x)
        return torch.cat([head(h) for head in self.heads], dim=1)


n_tasks = 4
x = torch.randn(512, 10)
mixing = torch.randn(10, n_tasks)
y = torch.tanh(x @ mixing) + 0.05 * torch.randn(512, n_tasks)
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)

model = MultiTask(10, n_tasks)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-5)
criterion = nn.MSELoss(reduction="none")
task_weights = torch.tensor([1.0, 0.5, 1.0, 2.0])

for epoch in range(4):
    total = 0.0
    for xb, yb in loader:
        optimizer.zero_grad()
        per_task = criterion(model(xb), yb).mean(dim=0)
        loss = (task_weights * per_task).sum()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(xb)
    print(f"epoch {epoch} loss {total / len(x):.4f}")

with torch.no_grad():
    print("per task", criterion(model(x), y).mean(dim=0))
