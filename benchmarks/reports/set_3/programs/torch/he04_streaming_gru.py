import torch
from torch import nn

torch.manual_seed(0)
STREAMS, CHUNK = 16, 10
signal = torch.cumsum(torch.randn(STREAMS, 400) * 0.3, dim=1)
signal = (signal - signal.mean(1, keepdim=True)) / signal.std(1, keepdim=True)


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRU(1, 24, batch_first=True)
        self.out = nn.Linear(24, 1)

    def forward(self, x, h):
        y, h = self.cell(x, h)
        return x + self.out(y), h


model = Forecaster()
nn.init.zeros_(model.out.weight)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(6):
    hidden = torch.zeros(1, STREAMS, 24)
    optimizer.zero_grad()
    total, pending = 0.0, 0
    for start in range(0, 390, CHUNK):
        x = signal[:, start:start + CHUNK].unsqueeze(-1)
        y = signal[:, start + 1:start + CHUNK + 1].unsqueeze(-1)
        hidden = hidden.detach()
        pred, hidden = model(x, hidden)
        loss = nn.functional.mse_loss(pred, y)
        (loss / 3).backward()
        total += loss.item()
        pending += 1
        if pending == 3:
            optimizer.step()
            optimizer.zero_grad()
            pending = 0
    print(f"epoch {epoch} loss {total / 39:.5f}")
