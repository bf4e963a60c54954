import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(12)
n_steps = 50
betas = torch.linspace(1e-3, 0.15, n_steps)
alpha_bar = torch.cumprod(1 - betas, dim=0)


def data(n):
    side = torch.randint(0, 2, (n, 1)).float() * 2 - 1
    return torch.cat([side, -side], dim=1) + 0.05 * torch.randn(n, 2)


def diffuse(x0, t):
    noise = torch.randn_like(x0)
    a = alpha_bar[t].unsqueeze(1)
    return a.sqrt() * x0 + (1 - a).sqrt() * noise, noise


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.time = nn.Embedding(n_steps, 16)
        self.net = nn.Sequential(nn.Linear(18, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 2))

    def forward(self, x, t):
        return self.net(torch.cat([x, self.time(t)], dim=1))


model = Denoiser()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

for step in range(601):
    x0 = data(128)
    t = torch.randint(0, n_steps, (128,))
    x_t, noise = diffuse(x0, t)
    loss = F.mse_loss(model(x_t, t), noise)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 150 == 0:
        with torch.no_grad():
            size = model(x_t, t).pow(2).mean().sqrt().item()
        print(step, "loss", round(loss.item(), 4), "prediction rms", round(size, 4))
