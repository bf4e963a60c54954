import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 1))
for parameter in model.parameters():
    parameter.register_hook(lambda grad: grad.clamp(-0.05, 0.05))

optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
x = torch.randn(256, 6)
y = 2 * torch.tanh(x[:, :1] - x[:, 1:2])

for step in range(50):
    rows = torch.randint(0, 256, (64,))
    loss = nn.functional.mse_loss(model(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print(step + 1, f"loss {loss.item():.3f}")
