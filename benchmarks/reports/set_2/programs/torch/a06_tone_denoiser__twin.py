import numpy as np
import torch
from torch import nn

torch.manual_seed(2)


def make_tones(n, length=64):
    t = torch.arange(length).float() / length
    freq = torch.randint(3, 12, (n, 1)).float()
    clean = torch.sin(2 * np.pi * freq * t[None] + 6.28 * torch.rand(n, 1))
    return clean + 0.5 * torch.randn(n, length), clean


def magnitude(wave):
    spectrum = torch.fft.rfft(wave, dim=-1)
    return spectrum.abs()


class Denoiser(nn.Module):
    def __init__(self, channels=8):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(1, channels, 9, padding=4),
            nn.Tanh(),
            nn.Conv1d(channels, 1, 9, padding=4),
        )

    def forward(self, wave):
        return self.body(wave.unsqueeze(1)).squeeze(1)


noisy, clean = make_tones(96)
model = Denoiser()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

for step in range(120):
    optimizer.zero_grad()
    restored = model(noisy)
    wave_loss = (restored - clean).abs().mean()
    spectral_loss = (magnitude(restored) - magnitude(clean)).abs().mean()
    loss = wave_loss + 0.5 * spectral_loss
    loss.backward()
    optimizer.step()
    if step % 30 == 0 or step == 119:
        print(f"step {step:3d}  wave {wave_loss.item():.3f}  spectral {spectral_loss.item():.3f}")
