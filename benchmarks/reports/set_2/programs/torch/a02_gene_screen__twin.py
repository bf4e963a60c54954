import torch
from torch import nn

torch.manual_seed(11)

n_samples, n_genes = 60, 80
expression = torch.randn(n_samples, n_genes)
effect = torch.zeros(n_genes)
effect[[4, 17, 33]] = torch.tensor([2.0, -1.5, 1.0])
response = expression @ effect + 0.3 * torch.randn(n_samples)
holdout = torch.randn(200, n_genes)
holdout_response = holdout @ effect

model = nn.Linear(n_genes, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
criterion = nn.MSELoss()
strength = 0.1

for epoch in range(400):
    optimizer.zero_grad()
    prediction = model(expression).squeeze(1)
    fit = criterion(prediction, response)
    penalty = sum(p.abs().sum() for p in model.parameters())
    loss = fit + strength * penalty
    loss.backward()
    optimizer.step()
    if epoch % 100 == 0 or epoch == 399:
        with torch.no_grad():
            test = criterion(model(holdout).squeeze(1), holdout_response)
            active = int((model.weight.abs() > 0.05).sum())
        print(f"epoch {epoch}  fit {fit.item():.3f}  penalty {penalty.item():.2f}  test {test.item():.3f}  active {active}")
