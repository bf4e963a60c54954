import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(9)
SIZE, CROP = 20, 8


def make_images(n):
    images = 0.1 * torch.randn(n, 1, SIZE, SIZE)
    label = torch.randint(0, 2, (n,))
    for i in range(n):
        r, c = torch.randint(0, SIZE - 6, (2,)).tolist()
        stroke = torch.eye(6) if label[i] == 0 else torch.eye(6).flip(0)
        images[i, 0, r:r + 6, c:c + 6] += 2 * stroke
    return images, label


class GlimpseNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.locator = nn.Sequential(nn.Flatten(), nn.Linear(SIZE * SIZE, 32), nn.ReLU(), nn.Linear(32, 2), nn.Tanh())
        self.classifier = nn.Sequential(nn.Flatten(), nn.Linear(CROP * CROP, 32), nn.ReLU(), nn.Linear(32, 2))

    def glimpse(self, images, centre):
        corner = ((centre + 1) / 2 * (SIZE - CROP)).round().long()
        crops = [image[:, r:r + CROP, c:c + CROP] for image, (r, c) in zip(images, corner.tolist())]
        return torch.stack(crops)

    def forward(self, images):
        centre = self.locator(images)
        return self.classifier(self.glimpse(images, centre))


images, label = make_images(200)
model = GlimpseNet()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

for step in range(150):
    optimizer.zero_grad()
    logits = model(images)
    loss = F.cross_entropy(logits, label)
    loss.backward()
    optimizer.step()
    if step % 30 == 0 or step == 149:
        accuracy = (logits.argmax(1) == label).float().mean().item()
        print(f"step {step:3d}  loss {loss.item():.3f}  accuracy {accuracy:.2f}")
