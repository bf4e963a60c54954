import torch
from torch import nn

torch.manual_seed(40)


class SwishFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, beta):
        ctx.save_for_backward(x)
        ctx.beta = beta
        return x * torch.sigmoid(beta * x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        gate = torch.sigmoid(ctx.beta * x)
        slope = gate * (1 + ctx.beta * x * (1 - gate))
        return grad_output * slope, None


class Swish(nn.Module):
    def __init__(self, beta=1.5):
        super().__init__()
        self.beta = beta

    def forward(self, x):
        return SwishFunction.apply(x, self.beta)


x = torch.rand(256, 2) * 4 - 2
y = (torch.sin(2 * x[:, :1]) * x[:, 1:]).detach()

model = nn.Sequential(nn.Linear(2, 64), Swish(), nn.Linear(64, 64), Swish(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
criterion = nn.MSELoss()

for step in range(400):
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    if step % 80 == 0 or step == 399:
        print(f"step {step:3d}  loss {loss.item():.4f}")
