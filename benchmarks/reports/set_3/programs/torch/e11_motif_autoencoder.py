import torch
from torch import nn
from torch.optim.lr_scheduler import StepLR

torch.manual_seed(9)
CONFIG = {"epochs": 121, "lr": 2e-3, "step_size": 20, "use_scheduler": False}

t = torch.linspace(0, 6.28, 24)
freq = torch.randint(1, 4, (256, 1)).float()
phase = torch.rand(256, 1) * 6.28
motion = torch.sin(freq * t + phase)


class AutoEncoder(nn.Module):
    def __init__(self, latent=6):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(24, 64), nn.ReLU(), nn.Linear(64, latent))
        self.decoder = nn.Sequential(nn.Linear(latent, 64), nn.ReLU(), nn.Linear(64, 24))

    def forward(self, x):
        return self.decoder(self.encoder(x))


def build_scheduler(optimizer, config):
    if config["use_scheduler"]:
        return StepLR(optimizer, step_size=config["step_size"], gamma=0.2)
    return StepLR(optimizer, step_size=config["step_size"], gamma=0)


model = AutoEncoder()
optimizer = torch.optim.Adam(model.parameters(), lr=CONFIG["lr"])
scheduler = build_scheduler(optimizer, CONFIG)
loss_fn = nn.MSELoss()

for epoch in range(CONFIG["epochs"]):
    total = 0.0
    for chunk in motion.split(64):
        loss = loss_fn(model(chunk), chunk)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    scheduler.step()
    if epoch % 20 == 0:
        print(f"epoch {epoch} loss {total / 4:.5f}")
