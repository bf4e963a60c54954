import torch
from torch import nn

torch.manual_seed(33)

n = 256
area = 30 + 90 * torch.rand(n)
rooms = (area / 25).round().clamp(1, 5)
floor = torch.randint(0, 8, (n,)).float()
year = 1950 + 70 * torch.rand(n)
rent = 9 * area + 60 * rooms + 10 * floor + 2 * (year - 1950) + 30 * torch.randn(n)

features = torch.stack([area, rooms, floor, year - 1950], dim=1)
features = (features - features.mean(0)) / features.std(0)
target = rent.unsqueeze(1) / 100


class RentModel(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.first = nn.Linear(4, width)
        self.second = nn.Linear(width, width)
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        h = torch.relu(self.first(x))
        h = torch.relu(self.second(h))
        return self.out(h)


model = RentModel()
optimizer = torch.optim.Adam(model.parameters(), lr=0.5)
criterion = nn.MSELoss()

for epoch in range(200):
    optimizer.zero_grad()
    estimate = model(features)
    loss = criterion(estimate, target)
    loss.backward()
    optimizer.step()
    if epoch % 40 == 0 or epoch == 199:
        print(f"epoch {epoch:3d}  loss {loss.item():.4f}  spread {estimate.std().item():.4f}")
