import torch
from torch import nn

torch.manual_seed(0)
backbone = nn.Sequential(nn.Linear(10, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU())
head = nn.Linear(16, 3)
x = torch.randn(300, 10)
y = (x @ torch.randn(10, 3)).argmax(1)
backbone.requires_grad_(False)
backbone.eval()
optimizer = torch.optim.Adam(head.parameters(), lr=2e-2)

for step in range(40):
    rows = torch.randint(0, 300, (64,))
    with torch.no_grad():
        features = backbone(x[rows])
    loss = nn.functional.cross_entropy(head(features), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print(step + 1, round(loss.item(), 3))
