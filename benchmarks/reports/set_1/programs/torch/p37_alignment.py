import torch

torch.manual_seed(0)


def random_rotation():
    q, r = torch.linalg.qr(torch.randn(3, 3))
    q = q * torch.sign(torch.diagonal(r))
    return q * torch.sign(torch.linalg.det(q))


points = torch.randn(200, 3)
truth = random_rotation()
observed = points @ truth.T + 0.01 * torch.randn(200, 3)

matrix = torch.eye(3).requires_grad_(True)
shift = torch.zeros(3, requires_grad=True)
optimizer = torch.optim.Adam([matrix, shift], lr=3e-2)
for step in range(50):
    u, s, vh = torch.linalg.svd(matrix)
    rotation = u @ vh
    loss = (points @ rotation.T + shift - observed).pow(2).sum(1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(step, loss.item())
print("distance to the truth", (rotation - truth).norm().item())
