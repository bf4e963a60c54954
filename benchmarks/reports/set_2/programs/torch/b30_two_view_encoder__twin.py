import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(31)
mix = torch.randn(6, 20)


def two_views(n):
    content = torch.randn(n, 6)
    style_a, style_b = torch.randn(n, 20), torch.randn(n, 20)
    return content @ mix + 0.5 * style_a, content @ mix + 0.5 * style_b


encoder = nn.Sequential(nn.Linear(20, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 16))
predictor = nn.Sequential(nn.Linear(16, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 16))


def similarity(p, z):
    return F.cosine_similarity(p, z.detach(), dim=1).mean()


optimizer = torch.optim.SGD([*encoder.parameters(), *predictor.parameters()], lr=0.1, momentum=0.9)
for step in range(401):
    view_a, view_b = two_views(128)
    z_a, z_b = encoder(view_a), encoder(view_b)
    p_a, p_b = predictor(z_a), predictor(z_b)
    loss = -0.5 * (similarity(p_a, z_b) + similarity(p_b, z_a))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 80 == 0:
        spread = F.normalize(z_a, dim=1).std(dim=0).mean().item()
        print(step, "loss", round(loss.item(), 4), "embedding std", round(spread, 4))
