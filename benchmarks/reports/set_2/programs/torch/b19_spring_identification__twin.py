import math
import torch
import torch.nn as nn

torch.manual_seed(20)
t_data = torch.linspace(0, 4, 60).unsqueeze(1)
omega, gamma = 2.0, 0.2
damped = math.sqrt(omega ** 2 - gamma ** 2)
y_data = torch.exp(-gamma * t_data) * torch.cos(damped * t_data) + 0.01 * torch.randn_like(t_data)


class SpringNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
        self.stiffness = nn.Parameter(torch.tensor(1.0))

    def forward(self, t):
        return self.net(t / 2 - 1)


def physics(model, t):
    t = t.clone().requires_grad_(True)
    y = model(t)
    dy = torch.autograd.grad(y.sum(), t, create_graph=True)[0]
    ddy = torch.autograd.grad(dy.sum(), t, create_graph=True)[0]
    return ddy + 2 * gamma * dy + model.stiffness * y


model = SpringNet()
optimizer = torch.optim.Adam(model.parameters(), lr=8e-3)
for step in range(1201):
    data_loss = (model(t_data) - y_data).pow(2).mean()
    physics_loss = physics(model, t_data).pow(2).mean()
    loss = 20 * data_loss + 0.1 * physics_loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 200 == 0:
        print(step, "data", round(data_loss.item(), 5), "physics", round(physics_loss.item(), 4),
              "stiffness", round(model.stiffness.item(), 3))
