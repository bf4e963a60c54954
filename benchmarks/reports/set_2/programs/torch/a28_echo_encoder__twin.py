import torch
from torch import nn

torch.manual_seed(29)
VOCAB, LENGTH, BATCH = 8, 10, 64


def make_batch():
    tokens = torch.randint(0, VOCAB, (BATCH, LENGTH))
    return tokens, tokens.roll(1, dims=1)


class EchoModel(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.token = nn.Embedding(VOCAB, width)
        self.place = nn.Parameter(0.3 * torch.randn(1, LENGTH, width))
        layer = nn.TransformerEncoderLayer(width, nhead=4, dim_feedforward=64, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=1)
        self.head = nn.Linear(width, VOCAB)

    def forward(self, tokens):
        x = self.token(tokens) + self.place
        return self.head(self.encoder(x))


model = EchoModel()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
criterion = nn.CrossEntropyLoss()

for step in range(240):
    tokens, target = make_batch()
    optimizer.zero_grad()
    logits = model(tokens)
    loss = criterion(logits.flatten(0, 1), target.flatten())
    loss.backward()
    optimizer.step()
    if step % 40 == 0 or step == 239:
        accuracy = (logits.argmax(-1) == target).float().mean().item()
        print(f"step {step:3d}  loss {loss.item():.3f}  accuracy {accuracy:.2f}")
