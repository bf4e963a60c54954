import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(11)
n_ctx, n_act = 5, 4
best_action = torch.tensor([2, 0, 3, 1, 2])

actor = nn.Sequential(nn.Linear(n_ctx, 32), nn.Tanh(), nn.Linear(32, n_act))
critic = nn.Sequential(nn.Linear(n_ctx, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam([
    {"params": actor.parameters(), "lr": 3e-3},
    {"params": critic.parameters(), "lr": 1e-2},
])


def evaluate(obs, action):
    dist = Categorical(logits=actor(obs))
    return dist.log_prob(action), critic(obs).squeeze(-1)


def collect(n):
    ctx = torch.randint(0, n_ctx, (n,))
    obs = torch.eye(n_ctx)[ctx]
    with torch.no_grad():
        action = Categorical(logits=actor(obs)).sample()
    reward = (action == best_action[ctx]).float()
    return obs, action, reward


for iteration in range(46):
    obs, action, reward = collect(128)
    with torch.no_grad():
        old_log_prob, old_value = evaluate(obs, action)
    for epoch in range(4):
        log_prob, value = evaluate(obs, action)
        advantage = (reward - old_value).detach()
        ratio = torch.exp(log_prob - old_log_prob)
        surr1 = ratio * advantage
        surr2 = torch.clamp(ratio, 0.8, 1.2) * advantage
        policy_loss = -torch.min(surr1, surr2).mean()
        value_loss = (reward - value).pow(2).mean()
        loss = policy_loss + 0.5 * value_loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if iteration % 15 == 0:
        print(iteration, "loss", round(loss.item(), 4), "mean reward", round(reward.mean().item(), 3))
