import copy
import torch
import torch.nn as nn

torch.manual_seed(41)
n_states, gamma = 6, 0.9
one_hot = torch.eye(n_states)

online = nn.Sequential(nn.Linear(n_states, 32), nn.ReLU(), nn.Linear(32, 2))
target = copy.deepcopy(online).requires_grad_(False)
optimizer = torch.optim.Adam(online.parameters(), lr=3e-3)


def transitions(n):
    state = torch.randint(0, n_states, (n,))
    action = torch.randint(0, 2, (n,))
    nxt = (state + 2 * action - 1).clamp(0, n_states - 1)
    done = (nxt == n_states - 1).float()
    return one_hot[state], action, done - 0.01, one_hot[nxt], done


for step in range(1001):
    obs, action, reward, next_obs, done = transitions(64)
    with torch.no_grad():
        best = online(next_obs).argmax(dim=1, keepdim=True)
        next_q = target(next_obs).gather(1, best).squeeze(1)
        goal = reward + gamma * (1 - done) * next_q
    q = online(obs).gather(1, action.unsqueeze(1)).squeeze(1)
    loss = nn.functional.smooth_l1_loss(q, goal)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(online.parameters(), 1.0)
    optimizer.step()
    if step % 100 == 0:
        target.load_state_dict(online.state_dict())
    if step % 200 == 0:
        greedy = online(one_hot).argmax(dim=1).tolist()
        print(step, "loss", round(loss.item(), 5), "greedy", greedy)
