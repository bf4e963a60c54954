import torch
from torch import nn

torch.manual_seed(4)

time = torch.arange(900).float()
series = torch.sin(time * 0.2) * torch.cos(time * 0.05) + 0.05 * torch.randn(900)
rnn = nn.LSTM(1, 16, batch_first=True)
head = nn.Linear(16, 1)
parameters = list(rnn.parameters()) + list(head.parameters())
optimizer = torch.optim.Adam(parameters, lr=1e-2)

for epoch in range(5):
    state = None
    total = 0.0
    for start in range(0, 870, 30):
        x = series[start:start + 30].view(1, -1, 1)
        y = series[start + 1:start + 31].view(1, -1, 1)
        out, state = rnn(x, state)
        state = tuple(s.detach() for s in state)
        loss = nn.functional.mse_loss(head(out), y)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        total += loss.item() / 29
    print(f"epoch {epoch}  loss {total:.4f}")
