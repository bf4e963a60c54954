import random
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
random.seed(0)
OBS, ACT = 3, 1


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(OBS, 64), nn.ReLU(), nn.Linear(64, ACT), nn.Tanh())

    def forward(self, s):
        return self.net(s)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(OBS + ACT, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, s, a):
        return self.net(torch.cat([s, a], dim=1))


def dynamics(s, a):
    s2 = s + 0.1 * torch.cat([s[:, 1:2], a, -s[:, 2:3]], dim=1)
    return s2, -(s2**2).sum(1, keepdim=True) - 0.01 * a**2


actor, critic = Actor(), Critic()
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
buffer = []
state = torch.randn(16, OBS)
for step in range(100):
    with torch.no_grad():
        action = (actor(state) + 0.2 * torch.randn(16, ACT)).clamp(-1, 1)
        nxt, reward = dynamics(state, action)
    buffer.append((state, action, reward, nxt))
    state = nxt if step % 20 else torch.randn(16, OBS)
    s, a, r, s2 = random.choice(buffer)

    with torch.no_grad():
        target = r + 0.95 * critic(s2, actor(s2))
    critic_loss = F.mse_loss(critic(s, a), target)

    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()
    actor_loss = -critic(s, actor(s)).mean()
    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()
    if step % 25 == 0:
        print(step, critic_loss.item(), actor_loss.item())
