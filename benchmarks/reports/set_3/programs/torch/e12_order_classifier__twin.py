import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
VOCAB, T, H = 12, 6, 16


def make_batch(n):
    ids = torch.randint(0, VOCAB, (n, T))
    label = (ids[:, 0] > ids[:, -1]).long()
    return ids, label


class SentenceModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, 12)
        self.encoder = nn.GRU(12, H, batch_first=True, bidirectional=True)
        self.latent = nn.Linear(2 * H, 16)
        self.out = nn.Linear(16, 2)

    def forward(self, ids):
        batch_size = ids.size(0)
        _, hidden = self.encoder(self.embedding(ids))
        hidden = hidden.transpose(0, 1).reshape(batch_size, 2 * H)
        return self.out(torch.tanh(self.latent(hidden)))


model = SentenceModel()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

for step in range(301):
    ids, label = make_batch(64)
    logits = model(ids)
    loss = F.cross_entropy(logits, label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 60 == 0:
        accuracy = (logits.argmax(1) == label).float().mean().item()
        print(f"step {step} loss {loss.item():.4f} accuracy {accuracy:.3f}")
