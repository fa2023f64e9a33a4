"""A logic program as a torch layer: truth values in, the probability of the head out."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from andre.errors import ConfigError, DataError
from andre.evaluation import CrispSample
from andre.learning import Floor, distinct_bodies, extract, prune
from andre.logic import Program
from andre.model import Inputs, LossConfig, Network, NetworkConfig, Objective
from andre.samples import Codes, RuleSpace, Sample

#: How far outside [0, 1] a valuation may lie: sums that are made in half precision come out so.
_SLACK = 1e-2


class RuleLayer(nn.Module):
    """A torch layer of rules over the truth values of atoms that another network may perceive.

    It is trained like any layer; `program` reads the rules from its weights.

    Parameters
    ----------
    space
        The rule space, or the names of its candidate atoms.
    n_rules
        How many rules the layer has. Rules that are not needed become equal to
        others or special cases of them, and `program` leaves them out.
    head
        The atom that the rules define, where `space` is names.
    config
        Which operators stand for conjunction and disjunction, and how sharp they are.
    init
        Standard deviation of the initial weights.
    generator
        Draws the initial weights; by default torch's own generator.

    Attributes
    ----------
    weight : Parameter
        Logits of inclusion, negation and exclusion, [n, m, 3].

    Examples
    --------
    >>> layer = RuleLayer(["b1", "b2"], n_rules=1)
    >>> layer.weight.data = torch.tensor([[[9.0, 0, 0], [0, 9.0, 0]]])
    >>> print(layer.program())
    h :- b1, \\+ b2.
    >>> layer(torch.tensor([[1.0, 0.0], [1.0, 1.0]])).round(decimals=2).detach()
    tensor([0.9900, 0.0100])
    """

    incidence: Tensor

    def __init__(
        self,
        space: RuleSpace | Sequence[str],
        n_rules: int = 4,
        *,
        head: str = "h",
        config: NetworkConfig | None = None,
        init: float = 0.1,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        if n_rules < 1:
            raise ConfigError(f"a layer of {n_rules} rules says nothing: give 1 or more")
        self.space = space if isinstance(space, RuleSpace) else RuleSpace.from_names(space, head)
        self.network = Network(config or NetworkConfig())
        self.init = init
        self.weight = nn.Parameter(torch.empty(n_rules, self.space.m, 3))
        incidence = torch.as_tensor(self.space.incidence, dtype=self.weight.dtype)  # [variables, m]
        self.register_buffer("incidence", incidence, persistent=False)
        self.reset_parameters(generator)

    @torch.no_grad()
    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw the weights anew."""
        self.weight.normal_(std=self.init, generator=generator)

    def forward(self, x: Tensor) -> Tensor:
        """The probability of the head, [...].

        Parameters
        ----------
        x
            Valuations in [0, 1], [..., m]; NaN is unknown. Gradients flow back to them. What comes
            out has their type, or that of the weights where they are integers or Booleans.
        """
        return torch.sigmoid(self.logits(x))

    def logits(self, x: Tensor) -> Tensor:
        """The logit of the head, [...]; above 0 the program holds."""
        if not isinstance(x, Tensor):
            raise DataError(
                f"the layer reads a tensor, not a value of type {type(x).__name__}: give torch.as_tensor(x)"
            )
        if not x.ndim or x.shape[-1] != self.space.m:
            found = f"there are {x.shape[-1]}" if x.ndim else "this is a single number"
            raise DataError(f"the layer reads {self.space.m} valuations in the last dimension: {found}")
        if x.is_complex():
            raise DataError(f"a valuation is a number in [0, 1], and these are of type {x.dtype}")
        if not torch.compiler.is_compiling():  # which cannot look at values
            _check_range(x.detach())
        if not x.is_floating_point():  # truth values as integers or Booleans
            x = x.to(self.weight.dtype)
        # Sums of exp(-beta) vanish in half precision, so the sums are made in single precision or better.
        exact = torch.promote_types(torch.promote_types(x.dtype, self.weight.dtype), torch.float32)
        rows = x.reshape(-1, self.space.m).to(exact)  # [U, m]
        with torch.autocast(x.device.type, enabled=False):
            logits = self.network(self.weight.to(exact)[None], Inputs.direct(rows))  # [U, 1]
        return logits.view(x.shape[:-1]).to(x.dtype)

    def probabilities(self) -> Tensor:
        """The probability that a rule includes, negates or leaves out an atom, [n, m, 3]."""
        return torch.softmax(self.weight, dim=-1)

    def regularization(self, progress: float, config: LossConfig | None = None) -> Tensor:
        """The sum of all losses but the cross-entropy, weighted by their schedule: a scalar.

        Add it to a loss of what `forward` gives. The entropy loss drives every
        rule to decide about each atom, the similarity loss drives rules apart,
        and if atoms have variables, two more keep rules safe and connected.

        Parameters
        ----------
        progress
            The share of training that is done, from 0 to 1.
        config
            Weights of the losses.

        Examples
        --------
        >>> layer = RuleLayer(["b1", "b2"], n_rules=1)
        >>> bool(layer.regularization(1.0) > layer.regularization(0.0))
        True
        """
        if not 0 <= progress <= 1:
            raise ConfigError(f"the progress {progress:g} is no share of training: give a number from 0 to 1")
        objective = Objective(config or LossConfig(), self.incidence, len(self.space.head_variables))
        mask = self.weight.new_ones(1, len(self.weight))  # [K = 1, n]
        return torch.stack(objective.regularizers(self.weight[None], mask, progress)).sum()

    def program(self, certainty: float = 0.4, sample: Sample | None = None) -> Program:
        """The rules that the weights stand for.

        Rules without a literal are left out, and so are rules whose body
        contains the whole body of another. Given a sample, rules are also left
        out that never fire on it, are wrong more often than right, or cover
        only what other rules cover.

        Parameters
        ----------
        certainty
            An atom is read as included or negated if the entropy of the choice is at
            most this, from 0 to ln 3.
        sample
            Labelled rows over the same atoms, such as what a network perceives.
        """
        if not 0 < certainty <= math.log(3) + 1e-9:
            raise ConfigError(f"the certainty {certainty:g} is no entropy of three readings: give 0 to ln 3")
        mask = torch.ones(1, len(self.weight))  # [K = 1, n]
        codes = _broadest(distinct_bodies(extract(self.weight[None].cpu(), mask, (certainty,))))
        if sample is not None:
            if sample.space != self.space:
                raise DataError(
                    "the sample is over other atoms than the layer: make it with space=layer.space"
                )
            codes = prune(CrispSample.of(sample), codes, Floor())
        return self.space.program(codes)

    def extra_repr(self) -> str:
        """The part of `repr` that torch leaves to a layer."""
        return f"{self.space.head} from {self.space.m} atoms, n_rules={len(self.weight)}"


def _check_range(x: Tensor) -> None:
    """Refuse valuations outside [0, 1], but for what rounding makes of them; NaN is unknown."""
    outside = (x < -_SLACK) | (x > 1 + _SLACK)
    if outside.any():
        raise DataError(
            f"a valuation is a number in [0, 1], and {x[outside][0].item():g} is not: give truth values or "
            "probabilities, as torch.sigmoid makes them of scores"
        )


def _broadest(codes: Codes) -> Codes:
    """The rules whose body does not contain the body of another rule, [rules, m]."""
    one, other = codes[:, None], codes[None]
    within = ((one == other) | (other == 0)).all(axis=2)  # other's literals are all in one, [rules, rules]
    np.fill_diagonal(within, False)
    return np.asarray(codes[~within.any(axis=1)])
