import copy
import torch
from torch import nn

torch.manual_seed(0)
student = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 3))
teacher = copy.deepcopy(student).requires_grad_(False)
optimizer = torch.optim.SGD(student.parameters(), lr=0.1, momentum=0.9)
labelled = torch.randn(40, 6)
labels = (labelled @ torch.randn(6, 3)).argmax(1)
unlabelled = torch.randn(400, 6)

for step in range(50):
    batch = unlabelled[torch.randint(0, 400, (64,))]
    with torch.no_grad():
        target = teacher(batch + 0.05 * torch.randn_like(batch)).softmax(-1)
    consistency = (student(batch + 0.05 * torch.randn_like(batch)).softmax(-1) - target).pow(2).mean()
    supervised = nn.functional.cross_entropy(student(labelled), labels)
    loss = supervised + min(1.0, step / 20) * consistency
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for slow, fast in zip(teacher.parameters(), student.parameters()):
            slow.lerp_(fast, 0.05)
    if step % 10 == 9:
        print(step + 1, round(supervised.item(), 4), round(consistency.item(), 5))
