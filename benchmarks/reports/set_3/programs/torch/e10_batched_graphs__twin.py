import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
B, N, C = 8, 10, 5
mix = torch.randn(C)


def make_batch():
    adj = (torch.rand(B, N, N) < 0.3).float()
    adj = ((adj + adj.transpose(1, 2) + torch.eye(N)) > 0).float()
    feats = torch.randn(B, N, C)
    pull = torch.where(adj == 1, 3.0 * feats[:, None, :, 0], torch.tensor(-9e15))
    target = (torch.softmax(pull, dim=2) * torch.tanh(feats @ mix)[:, None, :]).sum(dim=2)
    return feats, adj, target


class GATLayer(nn.Module):
    def __init__(self, c_in, c_out):
        super().__init__()
        self.projection = nn.Linear(c_in, c_out)
        self.a = nn.Parameter(torch.randn(2 * c_out) * 0.1)

    def forward(self, x, adj):
        batch_size, num_nodes = x.size(0), x.size(1)
        h = self.projection(x)
        edges = adj.nonzero(as_tuple=False)
        flat = h.reshape(batch_size * num_nodes, -1)
        rows = edges[:, 0] * num_nodes + edges[:, 1]
        cols = edges[:, 0] * num_nodes + edges[:, 2]
        pair = torch.cat([flat[rows], flat[cols]], dim=-1)
        logits = F.leaky_relu(pair @ self.a, 0.2)
        scores = torch.full(adj.shape, -9e15)
        scores = scores.masked_scatter(adj == 1, logits)
        return torch.softmax(scores, dim=2) @ h


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.gat = GATLayer(C, 16)
        self.head = nn.Sequential(nn.Tanh(), nn.Linear(16, 1))

    def forward(self, x, adj):
        return self.head(self.gat(x, adj)).squeeze(-1)


model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(501):
    feats, adj, target = make_batch()
    loss = F.mse_loss(model(feats, adj), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        with torch.no_grad():
            test = sum(F.mse_loss(model(f, a), t) for f, a, t in (make_batch() for _ in range(20))) / 20
        print(f"step {step} loss {loss.item():.5f} test {test.item():.5f}")
