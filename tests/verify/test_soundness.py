"""Long searches for rows on which a network contradicts what was proven about it."""

import numpy as np
import pytest
import torch
from torch import nn

from clausewise import RuleSet, wrap
from clausewise.networks import Network
from clausewise.verify import Certificate
from clausewise.verify.search import Claim
from tests.verify.test_certify import tries_in

pytestmark = pytest.mark.fuzz
NAMES = ["far", "near", "whole", "red", "green", "blue"]


def mixed_rows(random: np.random.RandomState, n_rows: int) -> np.ndarray:
    """Return numbers far from 0, where single precision is coarse, and near it, whole ones and a block."""
    far, near = 100 + random.uniform(size=n_rows), random.normal(size=n_rows)
    block = np.eye(3)[random.randint(0, 3, n_rows)]
    return np.column_stack([far, near, random.randint(-2, 4, n_rows), block])


def random_module(random: np.random.RandomState, n_classes: int) -> nn.Module:
    """Return a network in single precision, whose first layer moves the far column back to 0."""
    activations = [nn.ReLU, nn.Tanh, nn.Sigmoid, nn.ELU, lambda: nn.LeakyReLU(0.1)]
    first, second = (activations[random.randint(len(activations))]() for _ in range(2))
    norm = nn.BatchNorm1d(10) if random.randint(2) else nn.Identity()
    ends = [nn.Identity(), nn.Softmax(dim=1), nn.LogSoftmax(dim=1)]
    end = ends[random.randint(len(ends))] if n_classes > 1 else nn.Sigmoid()
    layers = nn.Sequential(
        nn.Linear(6, 12), first, nn.Linear(12, 10), norm, second, nn.Linear(10, n_classes), end
    )
    with torch.no_grad():
        for layer in layers:
            if isinstance(layer, nn.Linear):
                spread = 2.0 / np.sqrt(layer.in_features)
                layer.weight.copy_(torch.tensor(random.normal(0, spread, layer.weight.shape)))
                layer.bias.copy_(torch.tensor(random.normal(0, 0.5, layer.bias.shape)))
        layers[0].weight[:, 0] *= 4
        layers[0].bias.sub_(100.5 * layers[0].weight[:, 0])
        if isinstance(norm, nn.BatchNorm1d):
            norm.running_mean.copy_(torch.tensor(random.normal(size=10)))
            norm.running_var.copy_(torch.tensor(random.uniform(0.3, 2, 10)))
    return layers.eval()


def random_rules(random: np.random.RandomState, network: Network, rows: np.ndarray) -> RuleSet:
    """Return rules for boxes around rows, each with the class of its row."""
    labels, lines = network.labels(rows), []
    for row in random.randint(0, len(rows), 6):
        terms = []
        for column in random.choice(3, 2, replace=False):
            reach = random.uniform(0.05, 0.5) * np.ptp(rows[:, column])
            terms.append(f"{NAMES[column]} > {rows[row, column] - reach:.6g}")
            terms.append(f"{NAMES[column]} <= {rows[row, column] + reach:.6g}")
        if random.randint(2):
            terms.append(f"{NAMES[3 + random.randint(3)]} <= 0.5")
        lines.append(f"IF {' AND '.join(terms)} THEN {labels[row]}")
    classes = network.classes.tolist()
    return RuleSet.from_text("\n".join(lines), NAMES, classes=classes, default=classes[0])


def pushed(certificate: Certificate, rule: RuleSet, starts: np.ndarray) -> np.ndarray:
    """Return rows inside a rule after steps towards another class, all steps together."""
    prover, domain = certificate.row_prover.prover, certificate.domain
    claim = Claim(certificate.row_prover.decisions[rule.columns.class_index[0]])
    region, rows, found = domain.region_of(rule.columns, 0), starts.copy(), []
    for step in range(12):
        _, slopes = prover.slopes(rows, claim)
        reach = 0.5 * 0.6**step * (region.high - region.low)
        moved = rows[:, domain.numbers] - np.sign(slopes) * reach
        moved = np.where(domain.is_whole, np.round(moved), moved)
        rows[:, domain.numbers] = np.clip(moved, region.low, region.high)
        found.append(rows.copy())
    return np.concatenate(found)


@pytest.mark.parametrize("seed", range(12))
def test_no_row_of_a_mixed_domain_contradicts_a_proof_in_single_precision(seed):
    random = np.random.RandomState(seed)
    rows = mixed_rows(random, 600)
    network = wrap(random_module(random, random.choice([1, 2, 3])))
    rules = random_rules(random, network, rows)
    certificate = rules.certify(network, rows, max_boxes=1_200, seconds=60)
    assert certificate.domain.is_whole.tolist() == [False, False, True]
    assert [choice.n_options for choice in certificate.domain.choices] == [3]
    certified = certificate.shrunk()
    assert len(certified) > 0
    for number, part in enumerate(certified):
        rule = certified[number : number + 1]
        tries = tries_in(certificate, rule, 3_000, number)
        tries = np.concatenate([tries, pushed(certificate, rule, tries[::10])])
        assert certificate.certified(tries).all()
        assert (network.labels(tries) == part.conclusion).all()
    for proof in certificate:
        if proof.status == "proven":
            rule = rules[proof.rule : proof.rule + 1]
            tries = tries_in(certificate, rule, 3_000, proof.rule)
            tries = np.concatenate([tries, pushed(certificate, rule, tries[::10])])
            assert (network.labels(tries) == proof.predicts).all()
    around = certificate.around(rows[:50])
    for row in np.flatnonzero(around.radius > 0):
        draws = np.round(random.random_sample((200, 6)), random.randint(3))
        tries = around.low[row] + draws * (around.high[row] - around.low[row])
        tries[:, 2] = np.round(tries[:, 2])
        assert (network.labels(tries) == around.labels[row]).all()
