import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class DigitNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3)
        self.conv2 = nn.Conv2d(8, 16, 3)
        self.fc1 = nn.Linear(16 * 2 * 2, 32)
        self.fc2 = nn.Linear(32, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = F.relu(self.fc1(x.flatten(1)))
        x = self.fc2(x)
        return x


prototypes = torch.randn(10, 1, 14, 14)
labels = torch.randint(0, 10, (1280,))
images = prototypes[labels] + 0.8 * torch.randn(1280, 1, 14, 14)
train_loader = DataLoader(TensorDataset(images[:1024], labels[:1024]), batch_size=32, shuffle=True)
x_val, y_val = images[1024:], labels[1024:]

model = DigitNet()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.5)
criterion = nn.CrossEntropyLoss()

for epoch in range(4):
    model.train()
    for data, target in train_loader:
        optimizer.zero_grad()
        output = model(data)
        loss = criterion(output, target)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        val = model(x_val)
        acc = (val.argmax(1) == y_val).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.4f} val acc {acc:.3f}")
