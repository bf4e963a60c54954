import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
TEMPERATURE = 4.0
centers = torch.randn(6, 10)


def make_batch(n):
    label = torch.randint(0, 6, (n,))
    return centers[label] + 0.9 * torch.randn(n, 10), label


large = nn.Sequential(nn.Linear(10, 128), nn.ReLU(), nn.Linear(128, 6))
opt_large = torch.optim.Adam(large.parameters(), lr=5e-3)
for _ in range(150):
    data, label = make_batch(128)
    loss = F.cross_entropy(large(data), label)
    opt_large.zero_grad()
    loss.backward()
    opt_large.step()
large.eval()

small = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 6))
optimizer = torch.optim.Adam(small.parameters(), lr=5e-3)
train_data, _ = make_batch(512)
few_data, few_label = make_batch(6)

for step in range(301):
    data = train_data[torch.randint(0, 512, (64,))]
    with torch.no_grad():
        large_logits = large(data)
    output = small(data)
    soft_targets = F.softmax(large_logits / TEMPERATURE, dim=-1)
    soft_prob = F.log_softmax(large_logits / TEMPERATURE, dim=-1)
    soft_loss = F.kl_div(soft_prob, soft_targets, reduction="batchmean") * TEMPERATURE ** 2
    label_loss = F.cross_entropy(small(few_data), few_label)
    loss = 0.9 * soft_loss + 0.1 * label_loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 60 == 0:
        test, test_label = make_batch(1000)
        accuracy = (small(test).argmax(1) == test_label).float().mean().item()
        print(f"step {step} soft {soft_loss.item():.4f} label {label_loss.item():.4f} test accuracy {accuracy:.3f}")
