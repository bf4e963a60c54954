import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(30)


def make_textures(n, size=12):
    label = torch.randint(0, 2, (n,))
    grid = torch.arange(size).float()
    stripes = torch.sin(grid * 1.6)
    images = torch.where(label.view(-1, 1, 1) == 0, stripes.view(1, 1, -1), stripes.view(1, -1, 1))
    return (images.expand(n, size, size) * 0.5 + torch.randn(n, size, size)).unsqueeze(1), label


class TextureNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 5, padding=2)
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        return self.head(torch.relu(self.conv(x)).mean((2, 3)))


loader = DataLoader(TensorDataset(*make_textures(320)), batch_size=16, shuffle=True)
model = TextureNet()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=6, gamma=0.3)
criterion = nn.CrossEntropyLoss()

for epoch in range(12):
    total, correct = 0.0, 0
    for images, label in loader:
        optimizer.zero_grad()
        logits = model(images)
        loss = criterion(logits, label)
        loss.backward()
        optimizer.step()
        scheduler.step()
        total += loss.item() / len(loader)
        correct += (logits.argmax(1) == label).sum().item()
    print(f"epoch {epoch:2d}  loss {total:.3f}  accuracy {correct / 320:.2f}  lr {optimizer.param_groups[0]['lr']:.1e}")
