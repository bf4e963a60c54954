import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)


class Memory:
    def __init__(self):
        self.log_probs, self.rewards = [], []

    def add(self, log_prob, reward):
        self.log_probs.append(log_prob)
        self.rewards.append(reward)


memory = Memory()
for episode in range(30):
    position, target = torch.tensor(0.0), torch.empty(1).uniform_(-3, 3)[0]
    for t in range(6):
        action = torch.distributions.Categorical(logits=policy(torch.stack([position, target])))
        choice = action.sample()
        position = position + (2.0 * choice - 1.0)
        memory.add(action.log_prob(choice), -(position - target).abs())
    returns = torch.stack(memory.rewards).flip(0).cumsum(0).flip(0)
    returns = (returns - returns.mean()) / (returns.std() + 1e-6)
    loss = -(torch.stack(memory.log_probs) * returns).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if episode % 10 == 9:
        print(episode + 1, f"final distance {(position - target).abs().item():.2f}")
