import torch
from torch import nn

torch.manual_seed(1)


def make_garments(n, classes=10, size=10):
    templates = torch.randn(classes, 1, size, size, generator=torch.Generator().manual_seed(5))
    label = torch.randint(0, classes, (n,))
    return templates[label] + 1.5 * torch.randn(n, 1, size, size), label


class GarmentNet(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten())
        self.classifier = nn.Sequential(nn.Linear(8 * 16, 32), nn.ReLU(), nn.Linear(32, classes), nn.Softmax(dim=1))

    def forward(self, x):
        return self.classifier(self.features(x))


images, label = make_garments(400)
model = GarmentNet()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
criterion = nn.CrossEntropyLoss()

for epoch in range(60):
    optimizer.zero_grad()
    output = model(images)
    loss = criterion(output, label)
    loss.backward()
    optimizer.step()
    if epoch % 15 == 0 or epoch == 59:
        accuracy = (output.argmax(1) == label).float().mean().item()
        print(f"epoch {epoch:2d}  loss {loss.item():.3f}  accuracy {accuracy:.2f}")
