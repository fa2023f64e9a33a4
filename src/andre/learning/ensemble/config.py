"""How weighted rules are learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from andre.errors import ConfigError
from andre.learning.ensemble.model import Objective
from andre.learning.ensemble.search import SearchConfig

#: How many rules are taken.
Size: TypeAlias = Literal["fewest", "best"]

#: Rules that there may be where nothing else is said.
_MAX_RULES = 15
#: Tables with strong rules want the first, noisy ones the last.
_PENALTIES = (1.0, 10.0, 100.0)


@dataclass(frozen=True)
class WeighingConfig:
    """How weighted rules are learned.

    Examples
    --------
    >>> WeighingConfig(max_rules=5).max_literals
    3
    """

    max_rules: int = _MAX_RULES
    max_literals: int = 3  #: of one rule; fewer where validation finds them enough
    #: The fewest rules within one standard error of the best, or those that predict best, whatever their
    #: number; None: the best where more rules are allowed than by default.
    size: Size | None = None
    literal_price: float = 1.0  #: nats by which a literal must raise the likelihood
    penalty: float | None = None  #: on squares of weights while rules are searched for; None: validated
    beam: int = 12  #: bodies of each length that the search keeps
    folds: int = 5  #: of validation; the larger the table, the fewer of them are used, one at the least
    validated_rows: int = 10_000  #: folds are used until so many rows were learned from
    search_rows: int = 50_000  #: rules are searched for on so many rows at the most,
    search_cells: int = 2_500_000  #: and on so many values of columns; weights are learned on all rows
    objective: Objective = "accuracy"  #: of decisions
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("max_rules", "max_literals", "beam", "search_rows", "search_cells"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} is {getattr(self, name)}: give 1 or more")
        if self.penalty is not None and self.penalty <= 0:
            raise ConfigError(f"penalty is {self.penalty}: give a number above 0")
        if self.size not in (None, *get_args(Size)):
            raise ConfigError(f"size is {self.size!r}: choose {' or '.join(get_args(Size))}")
        if self.folds < 2:
            raise ConfigError(f"folds is {self.folds}: give 2 or more")

    @property
    def takes_best(self) -> bool:
        """Whether rules are taken that predict best, however many they are."""
        return self.max_rules > _MAX_RULES if self.size is None else self.size == "best"

    @property
    def penalties(self) -> tuple[float, ...]:
        """The penalties on squares of weights that are tried while rules are searched for."""
        return _PENALTIES if self.penalty is None else (self.penalty,)

    def search(self, penalty: float, literals: int | None = None) -> SearchConfig:
        """What bodies are looked for: of so many literals at the most, by default of as many as may be."""
        return SearchConfig(literals or self.max_literals, self.beam, self.literal_price, penalty)

    def most_rows(self, n_columns: int) -> int:
        """On how many rows of so many columns rules are searched for at the most."""
        return min(self.search_rows, max(1000, self.search_cells // max(1, n_columns)))
