import torch
from torch import nn

torch.manual_seed(17)


def make_leaves(n, classes, shift):
    y = torch.randint(0, classes, (n,))
    prototypes = torch.randn(classes, 16, generator=torch.Generator().manual_seed(shift))
    return prototypes[y] + 0.6 * torch.randn(n, 16), y


class LeafNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU())
        self.fc = nn.Linear(32, classes)

    def forward(self, x):
        return self.fc(self.backbone(x))


def fit(model, optimizer, x, y, epochs, tag):
    criterion = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        optimizer.zero_grad()
        logits = model(x)
        loss = criterion(logits, y)
        loss.backward()
        optimizer.step()
        if epoch % 20 == 0 or epoch == epochs - 1:
            accuracy = (logits.argmax(1) == y).float().mean().item()
            print(f"{tag} {epoch:3d}  loss {loss.item():.3f}  accuracy {accuracy:.2f}")


model = LeafNet(classes=10)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
fit(model, optimizer, *make_leaves(400, 10, shift=1), epochs=40, tag="pretrain")

x, y = make_leaves(200, 6, shift=2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
model.fc = nn.Linear(32, 6)
fit(model, optimizer, x, y, epochs=60, tag="finetune")
