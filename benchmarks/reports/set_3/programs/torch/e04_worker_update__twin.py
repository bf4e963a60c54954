import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(5)
N_OBS, N_ACT = 4, 3
best = torch.randn(N_OBS, N_ACT)


class Worker:
    def __init__(self):
        self.actor = nn.Sequential(nn.Linear(N_OBS, 24), nn.Tanh(), nn.Linear(24, N_ACT))
        self.critic = nn.Sequential(nn.Linear(N_OBS, 24), nn.Tanh(), nn.Linear(24, 1))
        params = list(self.actor.parameters()) + list(self.critic.parameters())
        self.optimizer = torch.optim.Adam(params, lr=1e-2)
        self.memory = []

    def act(self, state):
        dist = Categorical(logits=self.actor(state))
        action = dist.sample()
        return action, dist.log_prob(action)

    def rollout(self, length):
        for _ in range(length):
            state = torch.randn(N_OBS)
            action, log_prob = self.act(state)
            reward = float((state @ best).argmax() == action)
            self.memory.append((state, log_prob, reward))

    def learn(self):
        states = torch.stack([t[0] for t in self.memory])
        log_probs = torch.stack([t[1] for t in self.memory])
        rewards = torch.tensor([t[2] for t in self.memory])
        self.memory.clear()
        values = self.critic(states).squeeze(1)
        advantage = rewards - values.detach()
        actor_loss = -(log_probs * advantage).mean()
        critic_loss = (rewards - values).pow(2).mean()
        loss = actor_loss + critic_loss
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item(), rewards.mean().item()


worker = Worker()
for update in range(121):
    worker.rollout(40)
    loss, mean_reward = worker.learn()
    if update % 30 == 0:
        print(f"update {update} loss {loss:.3f} mean reward {mean_reward:.3f}")
