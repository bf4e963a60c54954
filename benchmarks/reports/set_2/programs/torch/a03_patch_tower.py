import torch
from torch import nn

torch.manual_seed(0)


def make_grids(n, side=4, dim=6):
    patches = torch.randn(n, side * side, dim) * 0.3
    where = torch.randint(0, side * side, (n,))
    patches[torch.arange(n), where] += 2.0
    return patches, where // 4


class PatchTower(nn.Module):
    def __init__(self, tokens=16, dim=6, width=32, classes=4):
        super().__init__()
        self.project = nn.Linear(dim, width)
        self.position = nn.Parameter(0.02 * torch.randn(tokens, width)).unsqueeze(0)
        self.block = nn.TransformerEncoderLayer(width, 4, 64, dropout=0.0, batch_first=True)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, classes)

    def forward(self, patches):
        x = self.project(patches) + self.position
        x = self.block(x)
        return self.head(self.norm(x).mean(dim=1))


model = PatchTower()
print("parameters", sum(p.numel() for p in model.parameters()))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
criterion = nn.CrossEntropyLoss()

for step in range(160):
    patches, row = make_grids(96)
    optimizer.zero_grad()
    logits = model(patches)
    loss = criterion(logits, row)
    loss.backward()
    optimizer.step()
    if step % 40 == 0 or step == 159:
        accuracy = (logits.argmax(1) == row).float().mean().item()
        print(f"step {step:3d}  loss {loss.item():.3f}  accuracy {accuracy:.2f}")
