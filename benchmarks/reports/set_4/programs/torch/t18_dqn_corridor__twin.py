import random
from collections import deque

import torch
from torch import nn
import torch.nn.functional as F

random.seed(0)
torch.manual_seed(0)
LENGTH, GAMMA, BATCH = 10, 0.95, 32


class QNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(LENGTH, 64)
        self.fc2 = nn.Linear(64, 2)

    def forward(self, s):
        return self.fc2(F.relu(self.fc1(s)))


def encode(pos):
    return F.one_hot(torch.tensor(pos), LENGTH).float()


q_net = QNet()
optimizer = torch.optim.Adam(q_net.parameters(), lr=2e-3)
memory = deque(maxlen=2000)
epsilon = 1.0

for episode in range(60):
    pos, steps = 0, 0
    while steps < 40:
        if random.random() < epsilon:
            action = random.randrange(2)
        else:
            with torch.no_grad():
                action = q_net(encode(pos)).argmax().item()
        nxt = max(0, pos + (1 if action else -1))
        done = nxt == LENGTH - 1
        memory.append((encode(pos), action, 1.0 if done else 0.0, encode(nxt), float(done)))
        pos, steps = nxt, steps + 1
        if len(memory) >= BATCH:
            s, a, r, s2, d = zip(*random.sample(memory, BATCH))
            s, s2 = torch.stack(s), torch.stack(s2)
            a, r, d = torch.tensor(a), torch.tensor(r), torch.tensor(d)
            q = q_net(s).gather(1, a.unsqueeze(1)).squeeze(1)
            q_next = q_net(s2).max(dim=1).values.detach()
            q_target = r + GAMMA * q_next * (1 - d)
            loss = F.mse_loss(q, q_target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if done:
            break
    epsilon = max(0.05, epsilon * 0.94)
    if episode % 15 == 14:
        print(f"episode {episode} steps {steps} q0 {q_net(encode(0)).tolist()}")
