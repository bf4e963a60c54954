import torch
from torch import nn

torch.manual_seed(0)
rnn = nn.RNN(2, 24, nonlinearity="relu", batch_first=True)
head = nn.Linear(24, 1)
parameters = [*rnn.parameters(), *head.parameters()]
with torch.no_grad():
    rnn.weight_hh_l0.copy_(1.15 * torch.eye(24))
optimizer = torch.optim.SGD(parameters, lr=0.02)

for step in range(40):
    x = torch.rand(32, 25, 2)
    x[:, :, 1] = 0
    marks = torch.stack([torch.randperm(25)[:2] for _ in range(32)])
    x[torch.arange(32)[:, None], marks, 1] = 1
    y = (x[:, :, 0] * x[:, :, 1]).sum(1, keepdim=True)
    output, _ = rnn(x)
    loss = nn.functional.mse_loss(head(output[:, -1]), y)
    optimizer.zero_grad()
    torch.nn.utils.clip_grad_norm_(parameters, 1.0)
    loss.backward()
    optimizer.step()
    if step % 8 == 0:
        print(step, f"{loss.item():.4g}")
