import torch
from torch import nn

torch.manual_seed(0)
x = torch.linspace(-2, 2, 80).unsqueeze(1)
y = torch.sin(2 * x) + 0.3 * x
model = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.3, max_iter=6, history_size=8)
criterion = nn.MSELoss()
history = []

for epoch in range(12):
    def closure():
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        history.append(loss.item())
        return loss

    optimizer.step(closure)
    if epoch % 3 == 2:
        print(epoch + 1, f"loss {history[-1]:.4f} after {len(history)} evaluations")
