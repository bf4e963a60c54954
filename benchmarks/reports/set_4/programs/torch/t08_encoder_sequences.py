import math
import torch
from torch import nn

torch.manual_seed(0)
SEQ, DIM, CLASSES = 10, 32, 4


class PositionalEncoding(nn.Module):
    def __init__(self, dim, max_len=64):
        super().__init__()
        position = torch.arange(max_len).unsqueeze(1)
        div = torch.exp(torch.arange(0, dim, 2) * (-math.log(10000.0) / dim))
        pe = torch.zeros(max_len, dim)
        pe[:, 0::2] = torch.sin(position * div)
        pe[:, 1::2] = torch.cos(position * div)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return x + self.pe[: x.size(1)]


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(3, DIM)
        self.pos = PositionalEncoding(DIM)
        layer = nn.TransformerEncoderLayer(DIM, nhead=4, dim_feedforward=64, dropout=0.0)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2, enable_nested_tensor=False)
        self.out = nn.Linear(DIM, CLASSES)

    def forward(self, x):
        h = self.encoder(self.pos(self.inp(x)))
        return self.out(h[:, 0])


def make_data(n):
    x = torch.randn(n, SEQ, 3)
    y = (x[:, 1:, 0].mean(1) > 0).long() * 2 + (x[:, 1:, 1].mean(1) > 0).long()
    return x, y


x, y = make_data(1024)
x_test, y_test = make_data(256)
model = Classifier()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(6):
    for idx in torch.randperm(len(x)).split(64):
        optimizer.zero_grad()
        loss = criterion(model(x[idx]), y[idx])
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        acc = (model(x_test).argmax(1) == y_test).float().mean()
    print(f"epoch {epoch} loss {loss.item():.3f} test accuracy {acc:.3f}")
