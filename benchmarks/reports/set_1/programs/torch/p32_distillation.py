import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
teacher = nn.Sequential(nn.Linear(10, 64), nn.Tanh(), nn.Linear(64, 6))
with torch.no_grad():
    teacher[2].weight.mul_(6)
student = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 6))
criterion = nn.KLDivLoss(reduction="batchmean")
optimizer = torch.optim.Adam(student.parameters(), lr=1e-2)
x = torch.randn(400, 10)

for step in range(60):
    batch = x[torch.randint(0, 400, (64,))]
    with torch.no_grad():
        target = teacher(batch).softmax(-1)
    loss = criterion(student(batch).softmax(-1), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 15 == 14:
        with torch.no_grad():
            agree = (student(x).argmax(1) == teacher(x).argmax(1)).float().mean().item()
        print(step + 1, f"loss {loss.item():.3f} agreement {agree:.2f}")
