import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
n_entities, n_relations, dim = 20, 4, 8
entities = nn.Embedding(n_entities, dim, max_norm=1.0)
relations = nn.Parameter(torch.randn(n_relations, dim, dim) * 0.3)
optimizer = torch.optim.Adam([entities.weight, relations], lr=5e-2)

heads = torch.randint(0, n_entities, (200,))
kinds = torch.randint(0, n_relations, (200,))
tails = (heads * 3 + kinds) % n_entities

for epoch in range(20):
    total = 0.0
    for batch in torch.arange(200).split(50):
        candidates = torch.einsum("ed,rdk->rek", entities.weight.clone(), relations)
        queries = entities(heads[batch])
        scores = torch.einsum("bk,bek->be", queries, candidates[kinds[batch]])
        loss = F.cross_entropy(4 * scores, tails[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    if epoch % 5 == 0:
        print(f"epoch {epoch}: {total / 4:.3f}")
