import torch
from torch import nn

torch.manual_seed(16)

n = 200
rain = torch.rand(n) * 10
heat = 10 + 20 * torch.rand(n)
yields = 3 * torch.sin(rain / 3) + 0.15 * heat + 0.1 * torch.randn(n)
fields = torch.stack([(rain - 5) / 3, (heat - 20) / 6], dim=1)


class YieldModel(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.hidden = nn.Linear(2, width)
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        return self.out(torch.tanh(self.hidden(x)))


def log_cosh(prediction, target):
    error = prediction - target
    return torch.log(torch.cosh(error)).mean()


model = YieldModel()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

for epoch in range(400):
    optimizer.zero_grad()
    prediction = model(fields)
    loss = log_cosh(prediction, yields)
    loss.backward()
    optimizer.step()
    if epoch % 80 == 0 or epoch == 399:
        print(f"epoch {epoch:3d}  loss {loss.item():.4f}  spread {prediction.std().item():.3f}")
