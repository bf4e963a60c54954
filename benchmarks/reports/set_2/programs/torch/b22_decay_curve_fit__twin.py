import torch
import torch.nn as nn

torch.manual_seed(23)
time = torch.linspace(0, 5, 80)
signal = 2.5 * torch.exp(-0.8 * time) + 0.7 * torch.exp(-0.1 * time) + 0.01 * torch.randn(80)


class BiExponential(nn.Module):
    def __init__(self):
        super().__init__()
        self.amplitude = nn.Parameter(torch.tensor([1.0, 1.0]))
        self.log_rate = nn.Parameter(torch.tensor([0.3, -1.5]))

    def forward(self, t):
        return (self.amplitude * torch.exp(-t[:, None] * self.log_rate.exp())).sum(dim=1)


model = BiExponential()
optimizer = torch.optim.LBFGS(model.parameters(), lr=1, line_search_fn="strong_wolfe")

for step in range(26):
    def closure():
        optimizer.zero_grad()
        loss = (model(time) - signal).pow(2).sum()
        loss.backward()
        return loss

    loss = optimizer.step(closure)
    if step % 5 == 0:
        print(step, "chi2", round(loss.item(), 6), "amplitude", [round(v, 3) for v in model.amplitude.tolist()],
              "rate", [round(v, 3) for v in model.log_rate.exp().tolist()])
