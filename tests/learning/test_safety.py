"""Learned rules bind every variable they use."""

import numpy as np
import pytest

from andre.learning import Config, fit
from andre.logic import check_safe
from andre.samples import RuleSpace, Sample

COLUMNS = ["likes(X1,X2)", "near(X2,X1)", "male(X3)", "knows(X1,X3)"]


@pytest.mark.parametrize("seed", range(4))
def test_a_rule_that_negation_alone_would_say_is_made_safe_or_left_out(seed: int) -> None:
    """The labels follow `\\+ likes(X1,X2)`, which binds no variable."""
    rows = np.random.default_rng(seed).random((200, len(COLUMNS)))
    space = RuleSpace.from_names(COLUMNS, "h(X1,X2)")
    result = fit(Sample.from_arrays(rows, rows[:, 0] < 0.5, space=space), Config.preset(seed=seed, rounds=1))
    for rule in result.program:
        check_safe(rule)
    assert len(result.program)  # e.g. near(X2, X1), \+ likes(X1, X2)


def test_safety_is_that_of_logic() -> None:
    space = RuleSpace.from_names(COLUMNS, "h(X1,X2)")
    codes = np.array(np.meshgrid(*[[-1, 0, 1]] * 4)).reshape(4, -1).T.astype(np.int8)
    for code, safe in zip(codes, space.safe(codes), strict=True):
        try:
            check_safe(space.rule(code))
        except ValueError:
            assert not safe
        else:
            assert safe
