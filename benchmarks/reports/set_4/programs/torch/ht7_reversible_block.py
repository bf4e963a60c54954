import torch
from torch import nn

torch.manual_seed(0)


class Reversible(torch.autograd.Function):
    """y1 = x1 + f(x2), y2 = x2 + g(y1); inputs are rebuilt in backward instead of stored."""

    @staticmethod
    def forward(ctx, x1, x2, f, g, *params):
        with torch.no_grad():
            y1 = x1 + f(x2)
            y2 = x2 + g(y1)
        ctx.f, ctx.g, ctx.params = f, g, params
        ctx.save_for_backward(y1, y2)
        return y1, y2

    @staticmethod
    def backward(ctx, dy1, dy2):
        y1, y2 = ctx.saved_tensors
        with torch.no_grad():
            x2 = y2 - ctx.g(y1)
            x1 = y1 - ctx.f(x2)
        with torch.enable_grad():
            a1, a2 = x1.detach().requires_grad_(), x2.detach().requires_grad_()
            b1 = a1 + ctx.f(a2)
            b2 = a2 + ctx.g(b1)
            grads = torch.autograd.grad((b1, b2), (a1, a2, *ctx.params), (dy1, dy2))
        return grads[0], grads[1], None, None, *grads[2:]


def branch(d):
    return nn.Sequential(nn.LayerNorm(d), nn.Linear(d, d), nn.Tanh())


class RevNet(nn.Module):
    def __init__(self, d=16, depth=3):
        super().__init__()
        self.inp = nn.Linear(6, 2 * d)
        self.f = nn.ModuleList(branch(d) for _ in range(depth))
        self.g = nn.ModuleList(branch(d) for _ in range(depth))
        self.out = nn.Linear(2 * d, 1)

    def forward(self, x):
        x1, x2 = self.inp(x).chunk(2, dim=1)
        for f, g in zip(self.f, self.g):
            x1, x2 = Reversible.apply(x1, x2, f, g, *f.parameters(), *g.parameters())
        return self.out(torch.cat([x1, x2], dim=1)).squeeze(1)


x = torch.randn(512, 6)
y = x[:, 0] * x[:, 1] + torch.cos(x[:, 2])
model = RevNet()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(6):
    for idx in torch.randperm(512).split(64):
        loss = nn.functional.mse_loss(model(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
