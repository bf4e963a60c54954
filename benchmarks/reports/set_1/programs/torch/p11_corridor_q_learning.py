import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
n_states, gamma = 6, 0.9
q_net = nn.Sequential(nn.Linear(n_states, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(q_net.parameters(), lr=5e-3)


def environment(state, action):
    following = (state + 2 * action - 1).clamp(0, n_states - 1)
    done = following == n_states - 1
    return following, done.float(), done.float()


def encode(state):
    return F.one_hot(state, n_states).float()


for step in range(60):
    state = torch.randint(0, n_states - 1, (64,))
    action = torch.randint(0, 2, (64,))
    following, reward, done = environment(state, action)
    q = q_net(encode(state)).gather(1, action[:, None]).squeeze(1)
    next_q = q_net(encode(following)).max(dim=1).values
    target = reward + gamma * (1 - done) * next_q
    loss = F.smooth_l1_loss(q, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(q_net(torch.eye(n_states)).max(1).values.detach())
