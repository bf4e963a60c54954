import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
PAD, VOCAB, DIM, MAX_LEN = 0, 30, 32, 12


class TextClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, DIM, padding_idx=PAD)
        self.pos = nn.Parameter(torch.randn(MAX_LEN, DIM) * 0.02)
        self.q, self.k, self.v = (nn.Linear(DIM, DIM) for _ in range(3))
        self.out = nn.Linear(DIM, 2)

    def forward(self, tokens):
        keep = tokens != PAD
        h = self.embed(tokens) + self.pos
        scores = self.q(h) @ self.k(h).transpose(1, 2) / DIM**0.5
        scores = scores.masked_fill(~keep.unsqueeze(1), float("-inf"))
        h = h + F.softmax(scores, dim=-1) @ self.v(h)
        weight = keep.unsqueeze(-1).float()
        pooled = (h * weight).sum(1) / weight.sum(1).clamp(min=1)
        return self.out(pooled)


def make_batch(n):
    tokens = torch.randint(1, VOCAB, (n, MAX_LEN))
    lengths = torch.randint(0, MAX_LEN + 1, (n,))
    tokens[torch.arange(MAX_LEN) >= lengths.unsqueeze(1)] = PAD
    labels = ((tokens > VOCAB // 2).sum(1) > (tokens != PAD).sum(1) / 2).long()
    return tokens, labels


model = TextClassifier()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for step in range(60):
    tokens, labels = make_batch(32)
    loss = F.cross_entropy(model(tokens), labels)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if step % 10 == 0:
        print(step, loss.item())
