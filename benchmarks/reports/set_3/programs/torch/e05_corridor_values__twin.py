import copy
import torch
from torch import nn

torch.manual_seed(2)
N_STATES, GAMMA = 10, 0.97


def features(s):
    pos = s.float().unsqueeze(1) / N_STATES
    return torch.cat([pos, pos * pos, torch.ones_like(pos)], dim=1)


def move(s, a):
    nxt = (s + torch.where(a == 1, 1, -1)).clamp(0, N_STATES - 1)
    done = nxt == N_STATES - 1
    return nxt, done.float(), done


policy_net = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 2))
target_net = copy.deepcopy(policy_net)
optimizer = torch.optim.Adam(policy_net.parameters(), lr=1e-2)

for step in range(1201):
    s = torch.randint(0, N_STATES - 1, (64,))
    a = torch.randint(0, 2, (64,))
    nxt, reward, done = move(s, a)
    q = policy_net(features(s)).gather(1, a.unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        next_a = policy_net(features(nxt)).argmax(1, keepdim=True)
        next_q = target_net(features(nxt)).gather(1, next_a).squeeze(1)
        backup = reward + GAMMA * next_q * (~done)
    loss = nn.functional.smooth_l1_loss(q, backup)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        target_net.load_state_dict(policy_net.state_dict())
    if step % 200 == 50:
        drift = (next_q - target_net(features(nxt)).gather(1, next_a).squeeze(1)).abs().max()
        print(f"step {step} td loss {loss.item():.5f} mean q {q.mean().item():.3f} shift {drift.item():.5f}")
