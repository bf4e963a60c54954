import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(2)
length, horizon, n_env, gamma = 5, 10, 32, 0.95

policy = nn.Sequential(nn.Linear(length, 24), nn.Tanh(), nn.Linear(24, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)


def rollout():
    pos = torch.zeros(n_env, dtype=torch.long)
    log_probs, rewards = [], []
    for _ in range(horizon):
        dist = Categorical(logits=policy(torch.eye(length)[pos]))
        move = dist.sample()
        pos = (pos + 2 * move - 1).clamp(0, length - 1)
        log_probs.append(dist.log_prob(move))
        rewards.append((pos == length - 1).float())
    return torch.stack(log_probs), torch.stack(rewards)


def discounted(rewards):
    out = torch.zeros_like(rewards)
    running = torch.zeros(n_env)
    for t in reversed(range(horizon)):
        running = rewards[t] + gamma * running
        out[t] = running
    return out


for episode in range(101):
    log_probs, rewards = rollout()
    returns = discounted(rewards)
    advantage = returns - returns.mean(dim=1, keepdim=True)
    loss = -(log_probs * advantage).sum(dim=0).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if episode % 20 == 0:
        print(episode, "loss", round(loss.item(), 3), "episode reward", round(rewards.sum(0).mean().item(), 3))
