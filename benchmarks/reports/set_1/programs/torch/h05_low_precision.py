import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Conv1d(2, 16, 5, padding=2), nn.ReLU(), nn.AdaptiveAvgPool1d(4), nn.Flatten(), nn.Linear(64, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
x = torch.randn(200, 2, 32)
y = (x[:, 0, :8].mean(1) > 0).long()

for step in range(40):
    rows = torch.randint(0, 200, (50,))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = model(x[rows])
    loss = nn.functional.cross_entropy(logits.float(), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print(step + 1, round(loss.item(), 3), logits.dtype)
