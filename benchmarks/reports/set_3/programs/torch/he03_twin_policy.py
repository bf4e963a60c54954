import copy
import torch
from torch import nn

torch.manual_seed(0)
goal = torch.randn(4, 2)


def mlp(i, o):
    return nn.Sequential(nn.Linear(i, 48), nn.ReLU(), nn.Linear(48, o))


actor, critic = mlp(4, 2), mlp(6, 1)
critic_target = copy.deepcopy(critic).requires_grad_(False)
opt_actor = torch.optim.Adam(actor.parameters(), lr=1e-3)
opt_critic = torch.optim.Adam(critic.parameters(), lr=3e-3)

for step in range(801):
    s = torch.randn(64, 4)
    with torch.no_grad():
        a = torch.tanh(actor(s)) + 0.3 * torch.randn(64, 2)
        reward = -(a - torch.tanh(s @ goal)).pow(2).sum(1, keepdim=True)
        s2 = torch.randn(64, 4)
        backup = reward + 0.5 * critic_target(torch.cat([s2, torch.tanh(actor(s2))], 1))
    critic_loss = nn.functional.mse_loss(critic(torch.cat([s, a], 1)), backup)
    opt_critic.zero_grad()
    critic_loss.backward()
    opt_critic.step()

    if step > 100 and step % 2 == 0:
        for p in critic.parameters():
            p.requires_grad_(False)
        actor_loss = -critic(torch.cat([s, torch.tanh(actor(s))], 1)).mean()
        opt_actor.zero_grad()
        actor_loss.backward()
        opt_actor.step()
        for p in critic.parameters():
            p.requires_grad_(True)
        with torch.no_grad():
            for p, t in zip(critic.parameters(), critic_target.parameters()):
                t.lerp_(p, 0.05)
    if step % 200 == 0:
        print(f"step {step} critic {critic_loss.item():.4f} reward {reward.mean().item():.4f}")
