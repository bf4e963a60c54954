import torch
from torch import nn

torch.manual_seed(0)
N_CRITIC, CLIP, BATCH = 5, 0.05, 64
gen = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
critic = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
opt_g = torch.optim.RMSprop(gen.parameters(), lr=2e-3)
opt_c = torch.optim.RMSprop(critic.parameters(), lr=2e-3)


def real(n):
    return torch.randn(n, 2) * 0.3 + torch.tensor([1.5, -0.5])


for iteration in range(200):
    fake = gen(torch.randn(BATCH, 4)).detach()
    critic_loss = critic(fake).mean() - critic(real(BATCH)).mean()
    opt_c.zero_grad()
    critic_loss.backward()
    opt_c.step()
    for p in critic.parameters():
        p.data.clamp_(-CLIP, CLIP)

    # the generator only moves on every fifth iteration
    if iteration % N_CRITIC == N_CRITIC - 1:
        for p in critic.parameters():
            p.requires_grad = False
        gen_loss = -critic(gen(torch.randn(BATCH, 4))).mean()
        opt_g.zero_grad()
        gen_loss.backward()
        opt_g.step()
        for p in critic.parameters():
            p.requires_grad = True
    if iteration % 50 == 49:
        with torch.no_grad():
            mean = gen(torch.randn(512, 4)).mean(0).tolist()
        print(f"{iteration} critic {critic_loss.item():.4f} gen {gen_loss.item():.4f} mean {mean}")
