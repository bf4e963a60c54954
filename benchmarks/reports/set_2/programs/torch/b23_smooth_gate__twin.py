import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(24)


class MemoryLeanSwish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * torch.sigmoid(x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        sig = torch.sigmoid(x)
        return grad_output * sig * (1 + x * (1 - sig))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        return x + MemoryLeanSwish.apply(self.fc(x))


model = nn.Sequential(nn.Linear(4, 24), Block(24), Block(24), nn.Linear(24, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
x_train = torch.randn(256, 4)
y_train = (x_train[:, :1] * x_train[:, 1:2]).tanh() + 0.5 * x_train[:, 2:3]

for epoch in range(301):
    prediction = model(x_train)
    loss = F.mse_loss(prediction, y_train)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 50 == 0:
        print(epoch, "loss", round(loss.item(), 5))
