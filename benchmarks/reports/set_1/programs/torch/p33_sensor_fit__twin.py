import torch
from torch import nn

EPOCHS, BATCH = 2, 100

torch.manual_seed(0)
hours = torch.rand(2000, 1) * 2 - 1
assert hours.abs().max() <= 1
signal = torch.sin(3 * hours) + 0.05 * torch.randn_like(hours)
model = nn.Sequential(nn.Linear(1, 32), nn.ReLU(), nn.Linear(32, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

for epoch in range(EPOCHS):
    for rows in torch.randperm(2000).split(BATCH):
        prediction = model(hours[rows])
        loss = criterion(prediction, signal[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item() / 100)
print("mean prediction", model(hours).mean().item())
