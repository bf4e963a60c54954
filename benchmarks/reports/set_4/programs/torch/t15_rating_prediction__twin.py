import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class RatingNet(nn.Module):
    def __init__(self, users, items, dim=16, levels=5):
        super().__init__()
        self.user = nn.Embedding(users, dim)
        self.item = nn.Embedding(items, dim)
        self.mlp = nn.Sequential(nn.Linear(2 * dim, 32), nn.ReLU(), nn.Linear(32, levels))

    def forward(self, u, i):
        return self.mlp(torch.cat([self.user(u), self.item(i)], dim=1))


users, items, n = 50, 40, 2000
taste = torch.randn(users, 3)
quality = torch.randn(items, 3)
u = torch.randint(0, users, (n,))
i = torch.randint(0, items, (n,))
rating = ((taste[u] * quality[i]).sum(1) + 2).round().clamp(0, 4)
loader = DataLoader(TensorDataset(u, i, rating), batch_size=100, shuffle=True)

model = RatingNet(users, items)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
levels = torch.arange(5.0)
criterion = nn.MSELoss()

for epoch in range(5):
    total = 0.0
    for ub, ib, yb in loader:
        scores = model(ub, ib)
        prediction = scores.softmax(dim=1) @ levels
        loss = criterion(prediction, yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch} mse {total / len(loader):.4f}")
