import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(400, 10)
y = (x[:, :3].sum(1) + 0.3 * x[:, 3] * x[:, 4] > 0).long()
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.1, patience=1)
criterion = nn.CrossEntropyLoss()

for epoch in range(15):
    model.train()
    for rows in torch.randperm(300).split(100):
        loss = criterion(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        accuracy = (model(x[300:]).argmax(1) == y[300:]).float().mean().item()
    scheduler.step(accuracy)
    if epoch % 3 == 2:
        print(epoch + 1, f"loss {loss.item():.3f} accuracy {accuracy:.2f} lr {optimizer.param_groups[0]['lr']:.1e}")
