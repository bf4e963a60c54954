import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(27)
shared = torch.randn(3, 16)

encoder = nn.Sequential(nn.Linear(16, 24), nn.ReLU(), nn.Linear(24, 3))
decoder = nn.Sequential(nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, 16))
enc_opt = torch.optim.Adam(encoder.parameters(), lr=3e-3)
dec_opt = torch.optim.SGD(decoder.parameters(), lr=0.05, momentum=0.9)


def batch(n):
    clean = torch.tanh(torch.randn(n, 3)) @ shared
    return clean + 0.1 * torch.randn_like(clean), clean


def train_step(noisy, clean):
    enc_opt.zero_grad()
    code = encoder(noisy)
    loss = F.mse_loss(decoder(code), clean)
    loss.backward()
    enc_opt.step()
    dec_opt.step()
    return loss.item()


history = []
for step in range(401):
    noisy, clean = batch(64)
    history.append(train_step(noisy, clean))
    if step % 80 == 0:
        recent = sum(history[-20:]) / len(history[-20:])
        print(step, "loss", round(recent, 4))
