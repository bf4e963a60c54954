import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-5, momentum=0.9)
base_lr, warmup = 5e-2, 10
x = torch.randn(300, 6)
y = (x[:, 0] - x[:, 1] * x[:, 2]).unsqueeze(1)

for step in range(60):
    learning_rate = base_lr * min(1.0, (step + 1) / warmup)
    optimizer.lr = learning_rate
    rows = torch.randint(0, 300, (64,))
    loss = nn.functional.mse_loss(model(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 15 == 14:
        print(f"step {step + 1}  lr {learning_rate:.3f}  loss {loss.item():.3f}")
