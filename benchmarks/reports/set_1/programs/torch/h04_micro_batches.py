import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 64), nn.GELU(), nn.Linear(64, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / 5))
accumulate = 4
x = torch.randn(512, 8)
y = (x[:, :1] * x[:, 1:2]).sin()

optimizer.zero_grad(set_to_none=True)
for micro in range(60):
    rows = torch.randint(0, 512, (32,))
    loss = nn.functional.mse_loss(model(x[rows]), y[rows]) / accumulate
    loss.backward()
    if (micro + 1) % accumulate == 0:
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad(set_to_none=True)
    if micro % 12 == 11:
        print(micro + 1, round(loss.item() * accumulate, 4), scheduler.get_last_lr())
