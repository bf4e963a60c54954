import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
ACCUM = 4
x = torch.randn(600, 8)
y = torch.sin(x[:, :1]) + x[:, 1:2] * x[:, 2:3]
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(8, 64), nn.SiLU(), nn.Linear(64, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
total_updates = 6 * -(-len(loader) // ACCUM)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-2, total_steps=total_updates)

for epoch in range(6):
    optimizer.zero_grad()
    running = 0.0
    for i, (xb, yb) in enumerate(loader):
        loss = nn.functional.mse_loss(model(xb), yb) / ACCUM
        loss.backward()
        running += loss.item() * ACCUM
        # step on every fourth batch, and on the last, shorter group
        if (i + 1) % ACCUM == 0 or i + 1 == len(loader):
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
    print(f"epoch {epoch} loss {running / len(loader):.4f} lr {scheduler.get_last_lr()[0]:.5f}")
