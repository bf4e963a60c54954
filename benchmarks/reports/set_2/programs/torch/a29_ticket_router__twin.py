import torch
from torch import nn

torch.manual_seed(35)
PAD, VOCAB, LENGTH = 0, 60, 14


def make_tickets(n):
    lengths = torch.randint(4, LENGTH - 1, (n,))
    tokens = torch.randint(1, VOCAB, (n, LENGTH))
    tokens[torch.arange(LENGTH)[None] >= lengths[:, None]] = PAD
    topic = torch.randint(0, 3, (n,))
    for i in range(n):
        tokens[i, torch.randint(0, int(lengths[i]), (2,))] = 1 + topic[i]
    tokens[:, :] = torch.where((tokens > 0) & (tokens < 4) & (tokens != 1 + topic[:, None]), 4, tokens)
    return tokens, topic


class TicketRouter(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, width)
        self.query = nn.Parameter(torch.randn(1, 1, width))
        self.attention = nn.MultiheadAttention(width, 2, batch_first=True)
        self.head = nn.Linear(width, 3)

    def forward(self, tokens):
        words = self.embed(tokens)
        mask = tokens == PAD
        query = self.query.expand(len(tokens), -1, -1)
        summary, _ = self.attention(query, words, words, key_padding_mask=mask)
        return self.head(summary.squeeze(1))


tokens, topic = make_tickets(300)
model = TicketRouter()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss()

for epoch in range(80):
    optimizer.zero_grad()
    logits = model(tokens)
    loss = criterion(logits, topic)
    loss.backward()
    optimizer.step()
    if epoch % 20 == 0 or epoch == 79:
        accuracy = (logits.argmax(1) == topic).float().mean().item()
        print(f"epoch {epoch:2d}  loss {loss.item():.3f}  accuracy {accuracy:.2f}")
