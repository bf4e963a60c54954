import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(45)
w = torch.randn(6)


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad_output):
        return -ctx.strength * grad_output, None


def batch(n, shift):
    x = torch.randn(n, 6)
    y = (x @ w > 0).long()
    return torch.cat([x, torch.randn(n, 2) + shift], dim=1), y


features = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 8))
label_head = nn.Linear(8, 2)
domain_head = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
model = nn.ModuleList([features, label_head, domain_head])
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
warmup = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda k: min(1.0, k / 20))
domain = torch.cat([torch.zeros(64), torch.ones(64)]).long()

for update in range(201):
    optimizer.zero_grad()
    for _ in range(2):
        source, y = batch(64, 0.0)
        other, y_other = batch(64, 1.5)
        h = features(torch.cat([source, other]))
        label_loss = F.cross_entropy(label_head(h[:64]), y)
        domain_loss = F.cross_entropy(domain_head(Reverse.apply(h, 0.3)), domain)
        ((label_loss + domain_loss) / 2).backward()
    optimizer.step()
    warmup.step()
    if update % 40 == 0:
        acc = (label_head(h[64:]).argmax(1) == y_other).float().mean().item()
        print(update, "label", round(label_loss.item(), 4), "domain", round(domain_loss.item(), 4), "target acc", round(acc, 3))
