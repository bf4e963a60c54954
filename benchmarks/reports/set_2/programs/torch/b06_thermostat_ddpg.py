import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(7)
rng = np.random.default_rng(7)

actor = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1), nn.Tanh())
critic = nn.Sequential(nn.Linear(3, 64), nn.ReLU(), nn.Linear(64, 1))
actor_opt = torch.optim.Adam(actor.parameters(), lr=2e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=5e-3)


def choose_action(obs, noise=0.0):
    with torch.no_grad():
        action = actor(obs)
    action = action.numpy() + noise * rng.normal(size=action.shape)
    return torch.as_tensor(np.clip(action, -1, 1), dtype=torch.float32)


def comfort(obs, action):
    wanted = torch.tanh(obs[:, 0] - obs[:, 1])
    return -(action.squeeze(-1) - wanted) ** 2


for step in range(801):
    obs = torch.randn(64, 2)
    action = choose_action(obs, noise=0.5)
    reward = comfort(obs, action)
    q = critic(torch.cat([obs, action], dim=1)).squeeze(-1)
    critic_loss = nn.functional.mse_loss(q, reward)
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()

    proposal = choose_action(obs)
    actor_loss = -critic(torch.cat([obs, proposal], dim=1)).mean()
    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()
    if step % 200 == 0:
        score = comfort(obs, choose_action(obs)).mean().item()
        print(step, "critic loss", round(critic_loss.item(), 4), "greedy reward", round(score, 4))
