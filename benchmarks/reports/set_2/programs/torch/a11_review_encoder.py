import torch
from torch import nn

torch.manual_seed(6)
VOCAB, LENGTH = 200, 12
POSITIVE = torch.arange(0, 40)


def make_reviews(n):
    tokens = torch.randint(0, VOCAB, (n, LENGTH))
    label = ((tokens < 40).sum(1) > (tokens >= 160).sum(1)).long()
    return tokens, label


class ReviewModel(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, dim)
        self.encoder = nn.GRU(dim, 16, batch_first=True)
        self.classifier = nn.Linear(16, 2)

    @torch.no_grad()
    def encode(self, tokens):
        _, state = self.encoder(self.embedding(tokens))
        return state[-1]

    def forward(self, tokens):
        return self.classifier(self.encode(tokens))


tokens, label = make_reviews(512)
model = ReviewModel()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss()

for epoch in range(60):
    optimizer.zero_grad()
    logits = model(tokens)
    loss = criterion(logits, label)
    loss.backward()
    optimizer.step()
    if epoch % 15 == 0 or epoch == 59:
        accuracy = (logits.argmax(1) == label).float().mean().item()
        print(f"epoch {epoch:2d}  loss {loss.item():.3f}  accuracy {accuracy:.2f}")

index = model.encode(tokens[:64])
print("index", tuple(index.shape))
