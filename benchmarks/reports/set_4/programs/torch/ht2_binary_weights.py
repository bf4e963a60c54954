import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)


class SignSTE(torch.autograd.Function):
    """Binarise forward; pass the gradient where the weight is inside [-1, 1]."""

    @staticmethod
    def forward(ctx, w):
        ctx.save_for_backward(w)
        return torch.where(w >= 0, 1.0, -1.0)

    @staticmethod
    def backward(ctx, grad):
        (w,) = ctx.saved_tensors
        return grad * (w.abs() <= 1)


class BinaryLinear(nn.Linear):
    def forward(self, x):
        scale = self.weight.abs().mean().detach()
        return F.linear(x, SignSTE.apply(self.weight) * scale, self.bias)


model = nn.Sequential(BinaryLinear(16, 64), nn.BatchNorm1d(64), nn.Hardtanh(), BinaryLinear(64, 4))
x = torch.randn(800, 16)
y = (x @ torch.randn(16, 4)).argmax(1)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(5):
    for idx in torch.randperm(800).split(50):
        loss = F.cross_entropy(model(x[idx]), y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for m in model:
                if isinstance(m, BinaryLinear):
                    m.weight.clamp_(-1, 1)
    print(f"epoch {epoch} loss {loss.item():.3f}")
