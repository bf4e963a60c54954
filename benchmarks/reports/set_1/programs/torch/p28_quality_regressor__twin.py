import torch
from torch import nn


class Quality(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(12, 24), nn.ReLU())
        self.hyper = nn.Sequential(nn.Linear(24, 24), nn.ReLU(), nn.Linear(24, 1))

    def forward(self, x):
        return self.hyper(self.backbone(x)).squeeze(1)


torch.manual_seed(0)
model = Quality()
backbone_ids = set(map(id, model.backbone.parameters()))
hyper_params = [p for p in model.parameters() if id(p) not in backbone_ids]
lr, lr_ratio = 2e-3, 10
x = torch.randn(320, 12)
y = (x[:, :4] ** 2).sum(1)

for epoch in range(6):
    groups = [{"params": hyper_params, "lr": lr * lr_ratio}, {"params": model.backbone.parameters(), "lr": lr}]
    optimizer = torch.optim.Adam(groups, weight_decay=5e-4)
    for rows in torch.randperm(320).split(40):
        loss = nn.functional.l1_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    lr = lr * 0.9
    print(epoch, f"{loss.item():.3f}", [len(g["params"]) for g in optimizer.param_groups])
