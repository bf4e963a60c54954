import math
import torch
from torch import nn

torch.manual_seed(0)
peak, total, warmup = 2e-3, 60, 6


def cosine(step):
    if step < warmup:
        return peak * (step + 1) / warmup
    return peak * 0.5 * (1 + math.cos(math.pi * (step - warmup) / (total - warmup)))


model = nn.Sequential(nn.Linear(5, 48), nn.GELU(), nn.Linear(48, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=peak)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lr_lambda=cosine)
x = torch.randn(300, 5)
y = (x @ torch.randn(5, 3)).argmax(1)

for step in range(total):
    rows = torch.randint(0, 300, (64,))
    loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if step % 15 == 14:
        print(step + 1, f"loss {loss.item():.3f}")
