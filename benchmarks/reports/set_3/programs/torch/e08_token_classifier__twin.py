import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)


class FusedCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, labels):
        lse = torch.logsumexp(logits, dim=1)
        picked = logits.gather(1, labels.unsqueeze(1)).squeeze(1)
        ctx.save_for_backward(logits, lse, labels)
        return (lse - picked).mean()

    @staticmethod
    def backward(ctx, grad_output):
        logits, lse, labels = ctx.saved_tensors
        buffer = logits.detach().clone()
        buffer.sub_(lse.unsqueeze(1)).exp_()
        rows = torch.arange(labels.numel())
        buffer[rows, labels] -= 1.0
        buffer.mul_(grad_output / labels.numel())
        return buffer, None


def z_penalty(logits):
    return torch.logsumexp(logits, dim=1).pow(2).mean()


tokens = torch.randn(256, 8)
labels = (tokens @ torch.randn(8, 5)).argmax(1)
head = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 5))
with torch.no_grad():
    head[2].bias += 6.0
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)

for step in range(301):
    logits = head(tokens)
    z_loss = z_penalty(logits)
    ce_loss = FusedCrossEntropy.apply(logits, labels)
    loss = ce_loss + 0.1 * z_loss
    report = torch.logsumexp(logits.detach(), dim=1).mean().item()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 60 == 0:
        print(f"step {step} ce {ce_loss.item():.4f} z {z_loss.item():.3f} mean lse {report:.3f}")
