import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(15)
n_sensors = 24
edges = torch.tensor([[i, (i + 1) % 20] for i in range(20)] + [[i, (i + 5) % 20] for i in range(20)])


def build_adjacency(edge_list, n):
    adj = torch.zeros(n, n)
    adj[edge_list[:, 0], edge_list[:, 1]] = 1.0
    return torch.maximum(adj, adj.T)


class SensorNet(nn.Module):
    def __init__(self, n_in=3, hidden=24):
        super().__init__()
        self.own = nn.Linear(n_in, hidden)
        self.neigh = nn.Linear(n_in, hidden)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x, prop):
        h = torch.relu(self.own(x) + self.neigh(prop @ x))
        return self.out(h).squeeze(-1)


adj = build_adjacency(edges, n_sensors)
degree = adj.sum(dim=1)
inv_sqrt = degree.pow(-0.5)
prop = inv_sqrt[:, None] * adj * inv_sqrt[None, :]

model = SensorNet()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(201):
    x = torch.randn(16, n_sensors, 3)
    target = x[..., 0] + 0.5 * torch.einsum("ij,bj->bi", adj, x[..., 1]) / 4
    loss = F.mse_loss(model(x, prop), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 50 == 0:
        print(epoch, "loss", round(loss.item(), 5))
