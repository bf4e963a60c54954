import numpy as np
import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(0)
np.random.seed(0)


class Policy(nn.Module):
    def __init__(self, obs_dim=2, act_dim=1):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(obs_dim, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh())
        self.mean = nn.Linear(32, act_dim)
        self.log_std = nn.Parameter(torch.zeros(act_dim))

    def forward(self, obs):
        return Normal(self.mean(self.net(obs)), self.log_std.exp())


class PointEnv:
    def reset(self):
        self.pos, self.vel = np.random.uniform(-1, 1), 0.0
        return np.array([self.pos, self.vel], dtype=np.float32)

    def step(self, force):
        self.vel = 0.9 * self.vel + 0.1 * float(np.clip(force, -2, 2))
        self.pos += self.vel
        reward = -abs(self.pos) - 0.01 * force**2
        return np.array([self.pos, self.vel], dtype=np.float32), reward


def update(log_probs, rewards, optimizer, gamma=0.97):
    running, deltas = 0.0, []
    for r in rewards[::-1]:
        running = r + gamma * running
        deltas.insert(0, running)
    deltas = torch.tensor(deltas, dtype=torch.float32)
    deltas = (deltas - deltas.mean()) / (deltas.std() + 1e-6)
    log_probs = torch.stack(log_probs).squeeze(-1)
    loss = -torch.sum(log_probs * deltas)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


policy, env = Policy(), PointEnv()
optimizer = torch.optim.AdamW(policy.parameters(), lr=3e-3)
history = []
for episode in range(80):
    obs, log_probs, rewards = env.reset(), [], []
    for _ in range(25):
        dist = policy(torch.from_numpy(obs))
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        obs, reward = env.step(action.item())
        rewards.append(reward)
    loss = update(log_probs, rewards, optimizer)
    history.append(sum(rewards))
    if episode % 20 == 19:
        print(f"episode {episode} return {np.mean(history[-20:]):.2f} loss {loss:.2e}")
