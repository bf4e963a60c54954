import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(300, 16)
y = (x @ torch.randn(16, 5)).argmax(1)


class Digits(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(16, 48)
        self.fc2 = nn.Linear(48, 5)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


model = Digits()
criterion = nn.NLLLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.5)
for step in range(60):
    rows = torch.randint(0, 300, (64,))
    loss = criterion(model(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 12 == 11:
        with torch.no_grad():
            accuracy = (model(x).argmax(1) == y).float().mean().item()
        print(step + 1, f"loss {loss.item():.2f} accuracy {accuracy:.2f}")
