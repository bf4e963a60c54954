import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.3), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
x = 3.0 + 2.0 * torch.randn(400, 8)
y = (x[:, 0] > x[:, 1]).long()


def validate():
    model.eval()
    with torch.no_grad():
        return (model(x[320:]).argmax(1) == y[320:]).float().mean().item()


model.train()
step = 0
for epoch in range(8):
    for rows in torch.randperm(320).split(64):
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % 10 == 0:
            print(step, f"loss {loss.item():.3f} accuracy {validate():.3f}")
