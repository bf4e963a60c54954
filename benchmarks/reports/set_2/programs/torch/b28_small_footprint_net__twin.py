import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(29)
centers = torch.randn(4, 10) * 1.5


def blobs(n):
    label = torch.randint(0, 4, (n,))
    return centers[label] + torch.randn(n, 10), label


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(10, 32)
        self.fc2 = nn.Linear(32, 32)
        self.fc3 = nn.Linear(32, 4)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        x = torch.relu(self.fc2(x))
        return self.fc3(x)


model = Classifier().half()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, eps=1e-4)

for step in range(201):
    x, label = blobs(64)
    logits = model(x.half())
    loss = F.cross_entropy(logits.float(), label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 0:
        acc = (logits.argmax(dim=1) == label).float().mean().item()
        print(step, "loss", round(loss.item(), 4), "acc", round(acc, 3))
