import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
N, CLASSES, FEATURES = 120, 3, 16


def make_graph():
    labels = torch.randint(0, CLASSES, (N,))
    same = labels.unsqueeze(0) == labels.unsqueeze(1)
    prob = torch.where(same, 0.08, 0.01)
    upper = torch.triu((torch.rand(N, N) < prob).float(), diagonal=1)
    adj = upper + upper.t()
    features = torch.randn(N, FEATURES) + F.one_hot(labels, FEATURES).float()
    return adj, features, labels


def normalise(adj):
    degree = adj.sum(1)
    inv_sqrt = degree.clamp(min=1).pow(-0.5)
    return inv_sqrt.unsqueeze(1) * adj * inv_sqrt.unsqueeze(0)


class GCN(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.lin1 = nn.Linear(FEATURES, hidden)
        self.lin2 = nn.Linear(hidden, CLASSES)

    def forward(self, a, x):
        h = F.relu(a @ self.lin1(x))
        h = F.dropout(h, 0.3, self.training)
        return a @ self.lin2(h)


adj, features, labels = make_graph()
a_hat = normalise(adj)
train = torch.zeros(N, dtype=torch.bool)
train[torch.randperm(N)[:60]] = True

model = GCN()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
for epoch in range(40):
    model.train()
    optimizer.zero_grad()
    out = model(a_hat, features)
    loss = F.cross_entropy(out[train], labels[train])
    loss.backward()
    optimizer.step()
    if epoch % 10 == 0:
        model.eval()
        acc = (model(a_hat, features)[~train].argmax(1) == labels[~train]).float().mean()
        print(f"epoch {epoch} loss {loss.item():.3f} acc {acc:.3f}")
