import torch
from torch import nn

torch.manual_seed(0)
a = torch.randn(256, 3)
b = torch.randn(256, 3)
a[:8] = b[:8]


def angle(u, v):
    cos = (u * v).sum(-1) / (u.norm(dim=-1) * v.norm(dim=-1)).clamp_min(1e-8)
    return torch.acos(cos.clamp(-1 + 1e-6, 1 - 1e-6))


target = angle(a, b).unsqueeze(1)
model = nn.Sequential(nn.Linear(6, 64), nn.Tanh(), nn.Linear(64, 6))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

for step in range(301):
    out = model(torch.cat([a, b], dim=1))
    with torch.no_grad():
        scale = out.abs().mean()
    pred = angle(out[:, :3] + a, out[:, 3:] + b).unsqueeze(1)
    loss = nn.functional.smooth_l1_loss(pred, target.detach() * 0.5)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if step % 60 == 0:
        print(f"step {step} loss {loss.item():.5f} scale {scale.item():.3f}")
