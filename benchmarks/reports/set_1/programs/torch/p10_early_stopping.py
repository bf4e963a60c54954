import torch
from torch import nn

torch.manual_seed(2)
x_train, x_valid = torch.randn(24, 20), torch.randn(100, 20)
truth = torch.zeros(20)
truth[:3] = torch.tensor([1.0, -2.0, 0.5])
y_train = x_train @ truth + 0.5 * torch.randn(24)
y_valid = x_valid @ truth

model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
best_loss, best_state = float("inf"), None
for epoch in range(60):
    model.train()
    loss = (model(x_train).squeeze(1) - y_train).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    model.eval()
    with torch.no_grad():
        valid = (model(x_valid).squeeze(1) - y_valid).pow(2).mean().item()
    if valid < best_loss:
        best_loss, best_state = valid, model.state_dict()

model.load_state_dict(best_state)
with torch.no_grad():
    restored = (model(x_valid).squeeze(1) - y_valid).pow(2).mean().item()
print(f"best {best_loss:.4f}  restored {restored:.4f}")
