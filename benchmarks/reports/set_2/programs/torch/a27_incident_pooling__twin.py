import torch
from torch import nn

torch.manual_seed(25)
STEPS = 30


def make_logs(n):
    logs = torch.randn(n, STEPS, 8)
    level = torch.randn(n)
    where = torch.randint(0, STEPS, (n,))
    logs[torch.arange(n), where, 0] = 4.0
    logs[torch.arange(n), where, 1] = level
    return logs, (level > 0).long()


class AttentionPooling(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.score = nn.Sequential(nn.Linear(dim, 16), nn.Tanh(), nn.Linear(16, 1))

    def forward(self, steps):
        weight = torch.softmax(self.score(steps), dim=1)
        return (weight * steps).sum(dim=1)


class IncidentModel(nn.Module):
    def __init__(self, features=8, dim=16):
        super().__init__()
        self.project = nn.Linear(features, dim)
        self.pool = AttentionPooling(dim)
        self.head = nn.Linear(dim, 2)

    def forward(self, logs):
        return self.head(self.pool(self.project(logs)))


logs, label = make_logs(400)
model = IncidentModel()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss()

for epoch in range(120):
    optimizer.zero_grad()
    logits = model(logs)
    loss = criterion(logits, label)
    loss.backward()
    optimizer.step()
    if epoch % 30 == 0 or epoch == 119:
        accuracy = (logits.argmax(1) == label).float().mean().item()
        print(f"epoch {epoch:3d}  loss {loss.item():.3f}  accuracy {accuracy:.2f}")
