import torch
from torch import nn


class WordAttention(nn.Module):
    def __init__(self, vocabulary=40, dim=16, classes=2):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, dim)
        self.score = nn.Linear(dim, 1)
        self.out = nn.Linear(dim, classes)

    def forward(self, tokens):
        words = self.embed(tokens)
        weights = torch.softmax(self.score(torch.tanh(words)), dim=1)
        return self.out((weights * words).sum(1))


torch.manual_seed(0)
tokens = torch.randint(2, 40, (300, 12))
label = torch.randint(0, 2, (300,))
tokens[torch.arange(300), torch.randint(0, 12, (300,))] = label
model = WordAttention()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(8):
    for rows in torch.randperm(300).split(50):
        loss = nn.functional.cross_entropy(model(tokens[rows]), label[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, round(loss.item(), 4))
