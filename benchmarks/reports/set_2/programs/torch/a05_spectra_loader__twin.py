import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(8)


def make_spectra(n, bins=32):
    kind = torch.randint(0, 3, (n,))
    grid = torch.arange(bins).float()
    centre = torch.tensor([8.0, 15.0, 22.0])[kind]
    peak = torch.exp(-0.5 * ((grid[None] - centre[:, None]) / 2.0) ** 2)
    return peak + 0.05 * torch.randn(n, bins), kind


class SpectraDataset(Dataset):
    def __init__(self, spectra, kind, jitter=0.4):
        self.spectra = spectra
        self.kind = kind
        self.jitter = jitter

    def __len__(self):
        return len(self.kind)

    def __getitem__(self, index):
        sample = self.spectra[index].clone()
        sample += self.jitter * torch.randn_like(sample)
        return sample, self.kind[index]


train = SpectraDataset(*make_spectra(120))
loader = DataLoader(train, batch_size=24, shuffle=True)
test_x, test_y = make_spectra(300)
model = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
criterion = nn.CrossEntropyLoss()

for epoch in range(60):
    running = 0.0
    for batch, target in loader:
        optimizer.zero_grad()
        loss = criterion(model(batch), target)
        loss.backward()
        optimizer.step()
        running += loss.item() / len(loader)
    if epoch % 10 == 0 or epoch == 59:
        with torch.no_grad():
            accuracy = (model(test_x).argmax(1) == test_y).float().mean().item()
        print(f"epoch {epoch:2d}  loss {running:.3f}  test accuracy {accuracy:.2f}  input std {batch.std().item():.2f}")
