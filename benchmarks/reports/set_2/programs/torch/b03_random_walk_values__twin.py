import torch
import torch.nn as nn

torch.manual_seed(0)
n_states = 7
features = torch.eye(n_states)
true_value = torch.arange(1, n_states + 1) / (n_states + 1)


def sample_transitions(n):
    state = torch.randint(0, n_states, (n,))
    nxt = state + (torch.randint(0, 2, (n,)) * 2 - 1)
    reward = (nxt == n_states).float()
    done = ((nxt < 0) | (nxt >= n_states)).float()
    return features[state], reward, features[nxt.clamp(0, n_states - 1)], done


value_net = nn.Sequential(nn.Linear(n_states, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(value_net.parameters(), lr=2e-3)

for step in range(1001):
    obs, reward, next_obs, done = sample_transitions(256)
    prediction = value_net(obs).squeeze(-1)
    bootstrap = value_net(next_obs).squeeze(-1)
    target = reward + (1 - done) * bootstrap.detach()
    loss = nn.functional.mse_loss(prediction, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 250 == 0:
        with torch.no_grad():
            err = (value_net(features).squeeze(-1) - true_value).pow(2).mean().sqrt()
        print(step, "td loss", round(loss.item(), 4), "rmse to true values", round(err.item(), 4))
print([round(v, 2) for v in value_net(features).squeeze(-1).tolist()])
