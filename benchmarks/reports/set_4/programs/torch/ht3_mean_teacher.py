import copy
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
student = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 3))
teacher = copy.deepcopy(student)
for p in teacher.parameters():
    p.requires_grad = False

centers = torch.randn(3, 10)
y_all = torch.randint(0, 3, (600,))
x_all = centers[y_all] + 0.8 * torch.randn(600, 10)
x_labelled, y_labelled = x_all[:60], y_all[:60]
x_unlabelled = x_all[60:]
optimizer = torch.optim.SGD(student.parameters(), lr=0.1, momentum=0.9)
teacher.train()


@torch.no_grad()
def update_teacher(decay):
    for t, s in zip(teacher.parameters(), student.parameters()):
        t.mul_(decay).add_(s, alpha=1 - decay)


for step in range(120):
    i = torch.randint(0, 60, (30,))
    u = x_unlabelled[torch.randint(0, 540, (60,))]
    with torch.no_grad():
        target = F.softmax(teacher(u + 0.1 * torch.randn_like(u)), dim=1)
    consistency = F.mse_loss(F.softmax(student(u + 0.1 * torch.randn_like(u)), dim=1), target)
    weight = min(1.0, step / 60)
    loss = F.cross_entropy(student(x_labelled[i]), y_labelled[i]) + weight * consistency
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    update_teacher(min(0.99, 1 - 1 / (step + 2)))
    if step % 30 == 29:
        teacher.eval()
        with torch.no_grad():
            print(step, loss.item(), (teacher(x_all).argmax(1) == y_all).float().mean().item())
        teacher.train()
