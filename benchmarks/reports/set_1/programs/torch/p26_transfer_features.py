import torch
from torch import nn

torch.manual_seed(0)
features = nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.ReLU(), nn.Conv2d(6, 8, 3, stride=2, padding=1), nn.ReLU())
for param in features.parameters():
    param.require_grad = False

classifier = nn.Sequential(nn.Flatten(), nn.Linear(8 * 16, 3))
model = nn.Sequential(features, classifier)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
criterion = nn.CrossEntropyLoss()

images = torch.randn(120, 1, 8, 8)
labels = torch.randint(0, 3, (120,))
images[torch.arange(120), 0, labels * 2] += 2.0
reference = [p.clone() for p in features.parameters()]

for step in range(40):
    rows = torch.randint(0, 120, (32,))
    loss = criterion(model(images[rows]), labels[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print(step + 1, round(loss.item(), 3))
drift = max((p - r).abs().max().item() for p, r in zip(features.parameters(), reference))
print("drift of the features", drift)
