import torch
from torch import nn

torch.manual_seed(0)
true_pose = nn.functional.normalize(torch.randn(12, 4), dim=1)
estimate = true_pose + 0.15 * torch.randn(12, 4)
estimate[0] = torch.tensor([1.0, 0.0, 0.0, 0.0])
true_pose[0] = torch.tensor([1.0, 0.0, 0.0, 0.0])

pose = nn.Parameter(estimate)
optimizer = torch.optim.Adam([pose], lr=1e-2)


def rotation_angle(a, b):
    cosine = (a * b).sum(-1).abs().clamp(max=1.0 - 1e-6)
    return 2 * torch.acos(cosine)


for step in range(40):
    unit = nn.functional.normalize(pose, dim=1)
    loss = rotation_angle(unit, true_pose).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(step, loss.item())
