import torch
from torch import nn

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
critic = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=1e-2)
world = torch.randn(4, 3)

for step in range(60):
    state = torch.randn(64, 4)
    policy = torch.distributions.Categorical(logits=actor(state))
    action = policy.sample()
    reward = (state @ world).gather(1, action[:, None]).squeeze(1)
    value = critic(state).squeeze(-1)
    advantage = reward - value
    actor_loss = -(policy.log_prob(action) * advantage).mean()
    critic_loss = (reward - value).pow(2).mean()
    loss = actor_loss + 0.5 * critic_loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 15 == 0 or step == 59:
        print(step, f"reward {reward.mean():.3f}  critic {critic_loss:.3f}")
