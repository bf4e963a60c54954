import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 6)
y = torch.sin(x[:, :1]) + 0.5 * x[:, 1:2] * x[:, 2:3]


class Regressor(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.hidden = nn.Linear(6, width)
        self.out = nn.Linear(width, 1)

    def forward(self, v):
        return self.out(torch.tanh(self.hidden(v)))


def shrink(model, keep):
    order = model.out.weight.detach().abs().squeeze(0).topk(keep).indices
    hidden, out = nn.Linear(6, keep), nn.Linear(keep, 1)
    with torch.no_grad():
        hidden.weight.copy_(model.hidden.weight[order])
        hidden.bias.copy_(model.hidden.bias[order])
        out.weight.copy_(model.out.weight[:, order])
        out.bias.copy_(model.out.bias)
    model.hidden, model.out = hidden, out
    return model


def run_epochs(model, optimizer, n, label):
    for epoch in range(n):
        loss = nn.functional.mse_loss(model(x), y)
        model.zero_grad()
        loss.backward()
        optimizer.step()
        if epoch % 50 == 0:
            print(f"{label} epoch {epoch} loss {loss.item():.5f}")


model = Regressor()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
run_epochs(model, optimizer, 151, "dense")
model = shrink(model, keep=24)
run_epochs(model, optimizer, 201, "finetune")
