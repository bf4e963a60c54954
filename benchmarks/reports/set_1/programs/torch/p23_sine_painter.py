import torch
from torch import nn

torch.manual_seed(0)
G = nn.Sequential(nn.Linear(5, 64), nn.ReLU(), nn.Linear(64, 15))
D = nn.Sequential(nn.Linear(15, 64), nn.ReLU(), nn.Linear(64, 1), nn.Sigmoid())
opt_d = torch.optim.Adam(D.parameters(), lr=1e-3)
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3)
grid = torch.linspace(-1, 1, 15)

for step in range(40):
    amplitude = 1 + torch.rand(64, 1)
    paintings = amplitude * grid ** 2 + (amplitude - 1)
    drafts = G(torch.randn(64, 5))
    p_real, p_fake = D(paintings), D(drafts)
    d_loss = -(torch.log(p_real + 1e-6) + torch.log(1 - p_fake + 1e-6)).mean()
    g_loss = torch.log(1 - p_fake + 1e-6).mean()
    opt_d.zero_grad()
    d_loss.backward(retain_graph=True)
    opt_d.step()
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
    if step % 10 == 9:
        print(step + 1, round(d_loss.item(), 3), round(g_loss.item(), 3))
