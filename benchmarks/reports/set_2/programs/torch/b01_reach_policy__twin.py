import torch
import torch.nn as nn
from torch.distributions import Normal

torch.manual_seed(3)


class GaussianPolicy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 32), nn.Tanh())
        self.mean = nn.Linear(32, 1)
        self.log_std = nn.Parameter(torch.zeros(1))

    def forward(self, obs):
        return Normal(self.mean(self.body(obs)), self.log_std.exp())


def step_env(obs, action):
    best = 1.5 * obs[:, 0] - obs[:, 1]
    return -(action.squeeze(-1) - best) ** 2


policy = GaussianPolicy()
critic = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
opt_policy = torch.optim.Adam(policy.parameters(), lr=5e-3)
opt_critic = torch.optim.Adam(critic.parameters(), lr=1e-2)

for update in range(301):
    obs = torch.rand(128, 2) * 2 - 1
    dist = policy(obs)
    action = dist.sample()
    reward = step_env(obs, action)

    value = critic(obs).squeeze(-1)
    critic_loss = (reward - value).pow(2).mean()
    opt_critic.zero_grad()
    critic_loss.backward()
    opt_critic.step()

    advantage = (reward - value).detach()
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
    log_prob = dist.log_prob(action).squeeze(-1)
    policy_loss = -(log_prob * advantage).mean()
    opt_policy.zero_grad()
    policy_loss.backward()
    opt_policy.step()
    if update % 100 == 0:
        print(update, "policy loss", round(policy_loss.item(), 4), "mean reward", round(reward.mean().item(), 4))
