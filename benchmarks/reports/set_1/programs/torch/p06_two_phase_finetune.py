import torch
from torch import nn

torch.manual_seed(0)
backbone = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 12), nn.ReLU())
head = nn.Linear(12, 2)
optimizer = torch.optim.SGD([*backbone.parameters(), *head.parameters()], lr=0.05, momentum=0.9, weight_decay=1e-2)
criterion = nn.CrossEntropyLoss()
x = torch.randn(200, 12)
y = (x[:, 0] + x[:, 1] > 0).long()


def run(steps):
    for _ in range(steps):
        rows = torch.randint(0, 200, (50,))
        loss = criterion(head(backbone(x[rows])), y[rows])
        optimizer.zero_grad(set_to_none=False)
        loss.backward()
        optimizer.step()
    return loss.item()


print("phase 1", round(run(25), 3))
for parameter in backbone.parameters():
    parameter.requires_grad_(False)
before = backbone[0].weight.clone()
print("phase 2", round(run(30), 3))
print("backbone moved by", (backbone[0].weight - before).abs().max().item())
