import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(18)
task_weights = torch.randn(6, 5)


class MainNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(5, 1)

    def forward(self, x):
        return self.fc(x)


class WeightGenerator(nn.Module):
    def __init__(self, n_tasks=6):
        super().__init__()
        self.embedding = nn.Embedding(n_tasks, 8)
        self.net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 6))

    def forward(self, task):
        out = self.net(self.embedding(task))
        return {"fc.weight": out[:5].view(1, 5), "fc.bias": out[5:]}


main, generator = MainNet(), WeightGenerator()
optimizer = torch.optim.Adam(generator.parameters(), lr=3e-3)

for step in range(601):
    task = torch.randint(0, 6, ())
    x = torch.randn(32, 5)
    y = x @ task_weights[task].unsqueeze(1) + 0.5
    weights = generator(task)
    prediction = torch.func.functional_call(main, weights, (x,))
    loss = F.mse_loss(prediction, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 120 == 0:
        print(step, "task", int(task), "loss", round(loss.item(), 4))
