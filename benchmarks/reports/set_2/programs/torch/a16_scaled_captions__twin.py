import torch
from torch import nn

torch.manual_seed(19)
VOCAB = 24


class NextToken(nn.Module):
    def __init__(self, dim=24, hidden=48):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim)
        self.mix = nn.Linear(2 * dim, hidden)
        self.out = nn.Linear(hidden, VOCAB)

    def forward(self, pair):
        return self.out(torch.relu(self.mix(self.embed(pair).flatten(1))))


pairs = torch.cartesian_prod(torch.arange(VOCAB), torch.arange(VOCAB))
following = (pairs[:, 0] + 2 * pairs[:, 1]) % 6

model = NextToken()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0 ** 16)
criterion = nn.CrossEntropyLoss()

for step in range(400):
    rows = torch.randint(0, len(pairs), (64,))
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = criterion(model(pairs[rows]), following[rows])
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    scaler.step(optimizer)
    scaler.update()
    if step % 80 == 0 or step == 399:
        print(f"step {step:3d}  loss {loss.item():.3f}")
