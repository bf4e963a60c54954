import torch
from torch import nn

torch.manual_seed(0)
text = "the quick brown fox jumps over the lazy dog and runs away from the bear. " * 40
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text])

BATCH, SEQ = 8, 20
n = (len(data) - 1) // (BATCH * SEQ) * BATCH * SEQ
inputs = data[:n].view(BATCH, -1)
targets = data[1 : n + 1].view(BATCH, -1)


class CharLSTM(nn.Module):
    def __init__(self, vocab, hidden=64):
        super().__init__()
        self.embed = nn.Embedding(vocab, 32)
        self.lstm = nn.LSTM(32, hidden, batch_first=True)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, x, state):
        h, state = self.lstm(self.embed(x), state)
        return self.out(h), state


model = CharLSTM(len(chars))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
criterion = nn.CrossEntropyLoss()

for epoch in range(3):
    state = None
    total, count = 0.0, 0
    for t in range(0, inputs.size(1) - SEQ + 1, SEQ):
        x, y = inputs[:, t : t + SEQ], targets[:, t : t + SEQ]
        logits, state = model(x, state)
        loss = criterion(logits.reshape(-1, len(chars)), y.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total, count = total + loss.item(), count + 1
    print(f"epoch {epoch} loss {total / count:.3f}")
