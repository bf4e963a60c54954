import torch
from torch import nn

torch.manual_seed(2)


class SpeciesNet(nn.Module):
    def __init__(self, classes=4):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU())
        self.head = nn.Linear(32, classes)

    def forward(self, x):
        return self.head(self.backbone(x))


x = torch.randn(300, 12)
y = (x[:, :4] + 0.5 * x[:, 4:8]).argmax(1)
model = SpeciesNet()
for parameter in model.backbone.parameters():
    parameter.requires_grad = False
optimizer = torch.optim.Adam(model.head.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss()

for epoch in range(60):
    if epoch == 20:
        for parameter in model.backbone.parameters():
            parameter.requires_grad = True
        optimizer.add_param_group({"params": model.backbone.parameters(), "lr": 2e-3})
    optimizer.zero_grad()
    logits = model(x)
    loss = criterion(logits, y)
    loss.backward()
    optimizer.step()
    if epoch % 10 == 0 or epoch == 59:
        accuracy = (logits.argmax(1) == y).float().mean().item()
        print(f"epoch {epoch:2d}  loss {loss.item():.3f}  accuracy {accuracy:.2f}")
