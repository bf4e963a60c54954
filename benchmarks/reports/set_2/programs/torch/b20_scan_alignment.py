import torch

torch.manual_seed(21)
source = torch.randn(80, 2) * torch.tensor([2.0, 0.6])
angle_true = torch.tensor(0.7)
rot_true = torch.tensor([[0.7648, -0.6442], [0.6442, 0.7648]])
target = source @ rot_true.T + torch.tensor([0.5, -1.2]) + 0.01 * torch.randn(80, 2)


class RigidPose(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.angle = torch.nn.Parameter(torch.zeros(()))
        self.shift = torch.nn.Parameter(torch.zeros(2))

    def rotation(self):
        c, s = torch.cos(self.angle), torch.sin(self.angle)
        return torch.tensor([[c, -s], [s, c]])

    def forward(self, points):
        return points @ self.rotation().T + self.shift


pose = RigidPose()
optimizer = torch.optim.Adam(pose.parameters(), lr=0.03)
for step in range(201):
    moved = pose(source)
    loss = (moved - target).pow(2).sum(dim=1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 0:
        print(step, "loss", round(loss.item(), 5), "angle", round(pose.angle.item(), 4),
              "shift", [round(v, 3) for v in pose.shift.tolist()])
print("angle error", round((pose.angle - angle_true).abs().item(), 4))
