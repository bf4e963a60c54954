import torch
from torch import nn

torch.manual_seed(0)
PAD, VOCAB, DIM = 0, 20, 16
values = torch.randn(VOCAB)


def make_batch(n, max_len):
    lengths = torch.randint(3, 7, (n,))
    ids = torch.randint(1, VOCAB, (n, max_len))
    ids[torch.arange(max_len).unsqueeze(0) >= lengths.unsqueeze(1)] = PAD
    valid = ids != PAD
    target = (values[ids] * valid).sum(1) / lengths
    return ids, target


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, DIM)
        self.q, self.k, self.v = (nn.Linear(DIM, DIM) for _ in range(3))
        self.out = nn.Sequential(nn.Linear(DIM, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, ids):
        x = self.embed(ids)
        q, k, v = (f(x).unsqueeze(1) for f in (self.q, self.k, self.v))
        mask = (ids != PAD).unsqueeze(1).unsqueeze(3)
        score = q @ k.transpose(2, 3) / DIM ** 0.5
        score = score.masked_fill(mask == 0, -10000)
        h = (torch.softmax(score, dim=-1) @ v).squeeze(1)
        return self.out(h[:, 0]).squeeze(1)


model = Encoder()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
loss_fn = nn.MSELoss()

for step in range(501):
    ids, target = make_batch(64, 8)
    loss = loss_fn(model(ids), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        with torch.no_grad():
            ids, target = make_batch(256, 24)
            wide = loss_fn(model(ids), target)
        print(f"step {step} loss {loss.item():.4f} wide batch {wide.item():.4f} "
              f"row 0 {model.embed.weight.grad[PAD].norm().item():.5f}")
