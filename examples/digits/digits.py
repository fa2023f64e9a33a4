"""Learn to see and to reason together: digits, and a hidden rule about pairs of them.

A small network looks at an 8x8 image of a digit and says how likely it is
even, large (5 or more) and a triple (divisible by three). It is told so for
two images of every digit, the anchors. Of all other images it only learns
from pairs, each labelled by a rule that nobody tells it:

    h(X1, X2) :- even(X1), large(X2).
    h(X1, X2) :- \\+ even(X1), \\+ large(X2).

Rule layers stand behind the network, and both are trained at once: rules that
fit the pairs better teach the network to see better, and the other way round.
One gradient descent over rules often gets stuck, so several layers share the
network, and at the end their rules are combined into the program that
describes the pairs shortest, as `andre.fit` does with its runs.

Run it with `python examples/digits/digits.py [SEED]`; it takes well under a minute.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy, binary_cross_entropy_with_logits

from andre import Config, Program, RuleLayer, Sample, fit
from andre.evaluation import CrispSample
from andre.learning import SelectionConfig, select
from andre.samples import RuleSpace

CONCEPTS = {"even": (0, 2, 4, 6, 8), "large": (5, 6, 7, 8, 9), "triple": (0, 3, 6, 9)}
SPACE = RuleSpace.from_names([f"{name}({x})" for x in ("X1", "X2") for name in CONCEPTS], "h(X1,X2)")
#: even(X1), large(X2); and the negation of both.
HIDDEN = SPACE.program([[1, 0, 0, 0, 1, 0], [-1, 0, 0, 0, -1, 0]])

ANCHORS = 2  # labelled images of each digit
IMAGES = 1000  # images that occur in pairs; all others are held out
PAIRS = 2000
LAYERS = 6  # rule layers that share the network
STEPS = 200  # of training network and rules together
ALONE = 0.3  # the share of them in which the rules learn and the network waits


@dataclass(frozen=True, eq=False)
class Task:
    """Images, what is known of them, and the labelled pairs."""

    images: Tensor  #: [N, 64]
    concepts: Tensor  #: [N, 3], used for the anchors and to judge; never for the other images
    anchors: Tensor  #: [20]
    held_out: Tensor
    pairs: Tensor  #: places of the left and the right image, [P, 2]
    labels: Tensor  #: [P]

    @classmethod
    def draw(cls, seed: int) -> Task:
        """Choose anchors and pairs, and label the pairs by the hidden rule."""
        rng = np.random.default_rng(seed)
        digits = load_digits()
        order = rng.permutation(len(digits.target))
        anchors = np.concatenate([order[digits.target[order] == digit][:ANCHORS] for digit in range(10)])
        others = order[~np.isin(order, anchors)]
        pairs = rng.choice(others[:IMAGES], (PAIRS, 2))
        truth = np.stack([np.isin(digits.target, members) for members in CONCEPTS.values()], axis=1)
        even, large = truth[pairs[:, 0], 0], truth[pairs[:, 1], 1]
        return cls(
            images=torch.as_tensor(digits.data / 16, dtype=torch.float32),
            concepts=torch.as_tensor(truth, dtype=torch.float32),
            anchors=torch.as_tensor(anchors),
            held_out=torch.as_tensor(others[IMAGES:]),
            pairs=torch.as_tensor(pairs),
            labels=torch.as_tensor(even == large, dtype=torch.float32),
        )

    def anchor_loss(self, network: nn.Module) -> Tensor:
        """How wrong the network is on the anchors."""
        return binary_cross_entropy_with_logits(
            network(self.images[self.anchors]), self.concepts[self.anchors]
        )

    def perceive(self, network: nn.Module) -> Tensor:
        """What the network sees in every pair: the concepts of both images, [P, 6]."""
        seen = torch.sigmoid(network(self.images))  # [N, 3]
        return seen[self.pairs].flatten(1)

    @torch.no_grad()
    def accuracy(self, network: nn.Module) -> dict[str, float]:
        """How often the network is right about each concept on held-out images."""
        right = (network(self.images[self.held_out]) > 0) == (self.concepts[self.held_out] > 0.5)
        return dict(zip(CONCEPTS, right.float().mean(0).tolist(), strict=True))

    @torch.no_grad()
    def sample(self, network: nn.Module) -> Sample:
        """The pairs as rows to learn from: perceived valuations and labels."""
        return Sample.from_arrays(self.perceive(network).double().numpy(), self.labels.numpy(), space=SPACE)


@dataclass(frozen=True, eq=False)
class Outcome:
    """Before and after learning from pairs."""

    before: dict[str, float]  #: accuracy of every concept from the anchors alone
    after: dict[str, float]
    perceived_before: Sample  #: the pairs as the network saw them from the anchors alone
    perceived: Sample
    layers: tuple[Program, ...]  #: what every layer says by itself
    program: Program  #: their rules, combined


def train(seed: int = 0) -> Outcome:
    """Train perception on the anchors, then perception and rules together."""
    torch.manual_seed(seed)
    task = Task.draw(seed)
    network = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, len(CONCEPTS)))
    optimizer = torch.optim.Adam(network.parameters(), lr=0.003)
    for _ in range(200):
        descend(optimizer, task.anchor_loss(network))
    before, first = task.accuracy(network), task.sample(network)

    layers = nn.ModuleList([RuleLayer(SPACE, n_rules=4) for _ in range(LAYERS)])
    optimizer.add_param_group({"params": list(layers.parameters()), "lr": 0.1})
    for step in range(STEPS):
        progress = step / STEPS
        perceived = task.perceive(network)  # [P, 6]
        if progress < ALONE:
            perceived = perceived.detach()
        loss = LAYERS * task.anchor_loss(network)
        for layer in layers:
            loss = loss + binary_cross_entropy(layer(perceived), task.labels) + layer.regularization(progress)
        descend(optimizer, loss)

    sample = task.sample(network)
    programs = tuple(layer.program(certainty=1.0, sample=sample) for layer in layers)
    codes = [SPACE.encode(program) for program in programs]
    # A pair is given with its images, so a rule may consist of negations.
    best = select(CrispSample.of(sample), codes, SelectionConfig(safe=False))
    return Outcome(before, task.accuracy(network), first, sample, programs, SPACE.program(best.codes))


def descend(optimizer: torch.optim.Optimizer, loss: Tensor) -> None:
    """One step down the gradient."""
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main(seed: int = 0) -> None:
    """Train, and say what came of it."""
    torch.set_num_threads(1)  # the tensors are too small to share
    began = time.monotonic()
    outcome = train(seed)
    again, unaided = (
        fit(rows, Config.preset(seed=seed, safe=False)).program
        for rows in (outcome.perceived, outcome.perceived_before)
    )
    say = sys.stdout.write
    say(f"Accuracy on held-out images ({ANCHORS} labelled images of each digit, {PAIRS} labelled pairs):\n")
    say(f"{'':10}{'anchors alone':>15}{'with pairs':>12}\n")
    for name in CONCEPTS:
        note = "" if name in str(HIDDEN) else "   (not in the rule: pairs say nothing of it)"
        say(f"{name:10}{outcome.before[name]:>15.1%}{outcome.after[name]:>12.1%}{note}\n")
    alone = sum(program == HIDDEN for program in outcome.layers)
    for title, program in (
        ("The rule that labelled the pairs:", HIDDEN),
        (f"Learned together with perception{verdict(outcome.program)}:", outcome.program),
        (f"Learned again by fit from what is now perceived{verdict(again)}:", again),
        (f"Learned by fit from what the anchors alone gave{verdict(unaided)}:", unaided),
    ):
        say(f"\n{title}\n{program}\n")
    say(f"\n{alone} of {LAYERS} layers hold the hidden rule by themselves; ")
    say(f"seed {seed}, {time.monotonic() - began:.1f} s\n")


def verdict(program: Program) -> str:
    """Whether a program is the hidden one."""
    return ", the same" if program == HIDDEN else ", another one"


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
