import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)


class Tracker(nn.Module):
    def __init__(self, n_ids=12):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(10, 48), nn.ReLU())
        self.box = nn.Linear(48, 4)
        self.identity = nn.Linear(48, n_ids)

    def forward(self, x):
        h = self.trunk(x)
        return self.box(h), self.identity(h)


class TrackingLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.s_det = nn.Parameter(torch.tensor(-1.85))
        self.s_id = nn.Parameter(torch.tensor(-1.05))

    def forward(self, box, identity, box_target, id_target):
        det_loss = F.smooth_l1_loss(box, box_target)
        id_loss = F.cross_entropy(identity, id_target)
        loss = torch.exp(-self.s_det) * det_loss + torch.exp(-self.s_id) * id_loss
        loss = 0.5 * (loss + self.s_det + self.s_id)
        return loss, det_loss, id_loss


centers = torch.randn(12, 10) * 1.5
to_box = torch.randn(10, 4) * 30.0
ids = torch.randint(0, 12, (256,))
x = centers[ids] + 0.4 * torch.randn(256, 10)
boxes = x @ to_box

model = Tracker()
criterion = TrackingLoss()
optimizer = torch.optim.Adam(list(model.parameters()) + list(criterion.parameters()), lr=0.02)

for epoch in range(401):
    box, identity = model(x)
    loss, det_loss, id_loss = criterion(box, identity, boxes, ids)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 100 == 0:
        print(f"epoch {epoch} loss {loss.item():.3f} det {det_loss.item():.3f} id {id_loss.item():.4f} "
              f"s_det {criterion.s_det.item():.3f} s_id {criterion.s_id.item():.3f}")
