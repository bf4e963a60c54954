import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(30)
centers = torch.randn(5, 8)


def samples(n):
    label = torch.randint(0, 5, (n,))
    return centers[label] + 0.9 * torch.randn(n, 8), label


teacher = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 5))
student = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 5))

opt = torch.optim.Adam(teacher.parameters(), lr=5e-3)
for _ in range(200):
    x, label = samples(128)
    ce = F.cross_entropy(teacher(x), label)
    opt.zero_grad()
    ce.backward()
    opt.step()
teacher.requires_grad_(False)

temperature = 2.0
optimizer = torch.optim.Adam(student.parameters(), lr=5e-3)
for step in range(401):
    x, _ = samples(128)
    student_out = F.log_softmax(student(x) / temperature, dim=1)
    teacher_out = F.softmax(teacher(x) / temperature, dim=1)
    loss = F.kl_div(student_out, teacher_out, reduction="batchmean") * temperature ** 2
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 80 == 0:
        with torch.no_grad():
            gap = (F.softmax(student(x), 1) - F.softmax(teacher(x), 1)).abs().sum(1).mean().item()
        print(step, "kd loss", round(loss.item(), 4), "probability gap", round(gap, 4))
