import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv1d(1, 8, 5, padding=2), nn.GELU(), nn.Conv1d(8, 8, 5, padding=2), nn.GELU())
        self.body = nn.Sequential(nn.Conv1d(8, 8, 3, padding=1), nn.GELU())
        self.head = nn.Linear(8, 3)

    def forward(self, wave):
        hidden = checkpoint(self.stem, wave, use_reentrant=True)
        hidden = self.body(hidden)
        return self.head(hidden.mean(-1))


torch.manual_seed(1)
time = torch.linspace(0, 6.28, 48)
labels = torch.randint(0, 3, (96,))
waves = torch.sin(time[None] * (labels[:, None] + 1) + torch.rand(96, 1)) + 0.1 * torch.randn(96, 48)

model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss()
for step in range(40):
    rows = torch.randint(0, 96, (32,))
    logits = model(waves[rows].unsqueeze(1))
    loss = criterion(logits, labels[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print(step + 1, f"{loss.item():.3f}")
