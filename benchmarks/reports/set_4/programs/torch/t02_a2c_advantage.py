import torch
from torch import nn
import torch.nn.functional as F
from torch.distributions import Categorical

torch.manual_seed(1)
GAMMA, HORIZON, N_STATES = 0.95, 32, 8


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(N_STATES, 64), nn.Tanh())
        self.pi = nn.Linear(64, 2)
        self.v = nn.Linear(64, 1)

    def forward(self, obs):
        h = self.body(obs)
        return Categorical(logits=self.pi(h)), self.v(h)


def step_env(state, action):
    state = (state + (1 if action == 1 else -1)) % N_STATES
    return state, 1.0 if state == 0 else -0.1


net = ActorCritic()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
state = 3

for update in range(60):
    observations, actions, rewards = [], [], []
    for _ in range(HORIZON):
        obs = F.one_hot(torch.tensor(state), N_STATES).float()
        with torch.no_grad():
            action = net(obs)[0].sample()
        observations.append(obs)
        actions.append(action)
        state, reward = step_env(state, action.item())
        rewards.append(reward)

    returns, running = [], 0.0
    for r in reversed(rewards):
        running = r + GAMMA * running
        returns.insert(0, running)
    returns = torch.tensor(returns)

    dist, values = net(torch.stack(observations))
    advantage = returns - values.detach()
    policy_loss = -(dist.log_prob(torch.stack(actions)) * advantage).mean()
    value_loss = F.smooth_l1_loss(values.squeeze(-1), returns)
    loss = policy_loss + 0.5 * value_loss - 0.01 * dist.entropy().mean()

    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 0.5)
    opt.step()
    if update % 10 == 0:
        print(update, "reward", sum(rewards), "loss", round(loss.item(), 4))
