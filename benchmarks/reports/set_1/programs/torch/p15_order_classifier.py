import torch
from torch import nn


class SequenceClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(input_size=3, hidden_size=24)
        self.head = nn.Linear(24, 2)

    def forward(self, x):
        output, _ = self.rnn(x)
        return self.head(output[:, -1])


torch.manual_seed(0)
x = torch.randn(256, 10, 3)
y = (x[:, :, 0].sum(1) > 0).long()
model = SequenceClassifier()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
loss_fn = nn.CrossEntropyLoss()

for epoch in range(12):
    for rows in torch.randperm(256).split(64):
        loss = loss_fn(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        accuracy = (model(x).argmax(1) == y).float().mean()
    if epoch % 3 == 2:
        print(epoch + 1, f"loss {loss.item():.3f} accuracy {accuracy:.3f}")
