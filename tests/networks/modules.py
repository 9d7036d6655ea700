"""PyTorch modules for the tests, small and with what people write."""

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812


class Residual(nn.Module):
    """Functional activations, a residual sum, dropout and batch normalisation."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.last = nn.Linear(4, 6), nn.Linear(6, 6), nn.Linear(6, 3)
        self.norm, self.drop = nn.BatchNorm1d(6), nn.Dropout(0.5)

    def forward(self, x):
        h = F.relu(self.first(x))
        h = h + torch.tanh(self.norm(self.second(self.drop(h))))
        return self.last(F.dropout(h, 0.3, training=self.training))


class Branching(nn.Module):
    """Two branches that are concatenated, and a skip from far below."""

    def __init__(self):
        super().__init__()
        self.left, self.right, self.last = nn.Linear(4, 3), nn.Linear(4, 2), nn.Linear(9, 2)

    def forward(self, x):
        joined = torch.cat([torch.sigmoid(self.left(x)), F.relu(self.right(x)), x], dim=1)
        return F.log_softmax(self.last(joined), dim=1)


class Convolutional(nn.Module):
    """rows × channels × positions → two convolutions, pooling, one sigmoid."""

    def __init__(self, n_channels=2):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(n_channels, 4, 3),
            nn.ReLU(inplace=True),
            nn.MaxPool1d(2),
            nn.Conv1d(4, 5, 2),
            nn.Tanh(),
        )
        self.head = nn.Linear(5, 1)

    def forward(self, x):
        return torch.sigmoid(self.head(self.body(x).mean(dim=2))).squeeze(1)


class Recurrent(nn.Module):
    """rows × time × inputs; classifies from the last step or the final state, time first or rows first."""

    def __init__(self, kind=nn.GRU, batch_first=True, from_state=False, n_inputs=3, n_classes=2):
        super().__init__()
        self.rnn = kind(n_inputs, 5, batch_first=batch_first)
        self.head = nn.Linear(5, n_classes)
        self.batch_first, self.from_state = batch_first, from_state

    def forward(self, x):
        steps, state = self.rnn(x if self.batch_first else x.transpose(0, 1))
        if self.from_state:
            return self.head((state[0] if isinstance(state, tuple) else state)[-1])
        return self.head(steps[:, -1] if self.batch_first else steps[-1])


class Stacked(nn.Module):
    """A recurrent layer whose every step another layer reads."""

    def __init__(self):
        super().__init__()
        self.gru, self.second, self.head = nn.GRU(3, 4, batch_first=True), nn.Linear(4, 2), nn.Linear(14, 2)

    def forward(self, x):
        steps, _ = self.gru(x)
        return self.head(F.relu(self.second(steps)).flatten(1))


class StepByStep(nn.Module):
    """Puts the first steps of all rows, then the second ones and so on, below each other."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.o = nn.Linear(2, 4), nn.Linear(4, 5), nn.Linear(5, 2)

    def forward(self, x):
        n_steps = x.shape[1]
        h = x.transpose(0, 1).reshape(-1, 2)
        h = F.relu(self.b(F.relu(self.a(h))))
        return self.o(h.reshape(n_steps, -1, 5).mean(0))


class Undecided(nn.Module):
    """Runs another module, and cannot be traced because it looks at values."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x) if float(x.abs().sum()) >= 0 else None


def seeded(make, *args, **options):
    """A module with fixed weights, batch normalisation statistics included."""
    torch.manual_seed(0)
    module = make(*args, **options)
    for inner in module.modules():
        if isinstance(inner, nn.BatchNorm1d):
            inner.running_mean.normal_()
            inner.running_var.uniform_(0.5, 2)
    return module
