import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 4))
value = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam([*policy.parameters(), *value.parameters()], lr=1e-2)
world = torch.randn(3, 4)

for iteration in range(8):
    state = torch.randn(128, 3)
    with torch.no_grad():
        distribution = torch.distributions.Categorical(logits=policy(state))
        action = distribution.sample()
        old = distribution.log_prob(action)
        reward = (state @ world).gather(1, action[:, None]).squeeze(1)
        advantage = reward - value(state).squeeze(1)
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    for _ in range(4):
        log_prob = torch.distributions.Categorical(logits=policy(state)).log_prob(action)
        ratio = (log_prob - old).exp()
        clipped = ratio.clamp(0.8, 1.2)
        policy_loss = -torch.min(ratio * advantage, clipped * advantage).mean()
        value_loss = (value(state).squeeze(1) - reward).pow(2).mean()
        optimizer.zero_grad()
        (policy_loss + 0.5 * value_loss).backward()
        nn.utils.clip_grad_norm_([*policy.parameters(), *value.parameters()], 0.5)
        optimizer.step()
    print(iteration, f"reward {reward.mean().item():.3f} value loss {value_loss.item():.3f}")
