import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
vocabulary, tags, dim = 50, 5, 16
tagger = nn.Sequential(nn.Embedding(vocabulary, dim), nn.Linear(dim, 32), nn.Tanh(), nn.Linear(32, tags))
optimizer = torch.optim.Adam(tagger.parameters(), lr=1e-2)

sentences = torch.randint(1, vocabulary, (120, 6))
gold = sentences % tags
annotated = torch.rand(120, 6) < 0.35
gold = torch.where(annotated, gold, torch.tensor(-100))
gold[73:75] = -100

for epoch in range(2):
    for start in range(0, 120, 2):
        tokens, target = sentences[start:start + 2], gold[start:start + 2]
        logits = tagger(tokens)
        mask = (target != -100).float()
        nll = F.cross_entropy(logits.transpose(1, 2), target.clamp(min=0), reduction="none")
        loss = (nll * mask).sum() / mask.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if start % 24 == 0:
            print(epoch, start, round(loss.item(), 3))
with torch.no_grad():
    guess = tagger(sentences).argmax(-1)
print("accuracy", (guess == sentences % tags).float().mean().item())
