"""What is said beforehand about the bodies to be found."""

from __future__ import annotations

from dataclasses import dataclass

from andre.grounding import Codes
from andre.grounding.form import Form

__all__ = ["Guide"]


@dataclass(frozen=True, eq=False)
class Guide:
    """Bounds and hints for `fit`, all over one rule space.

    Examples
    --------
    >>> import numpy as np
    >>> from andre.grounding import Sample
    >>> from andre.learning import fit
    >>> rows = np.random.default_rng(0).random((60, 3))
    >>> sample = Sample.from_arrays(rows, (rows[:, 0] > 0.5) | (rows[:, 2] < 0.5))
    >>> known = np.array([[1, 0, 0]], dtype=np.int8)
    >>> print(fit(sample, guide=Guide(fixed=known)).program)
    h :- b1.
    h :- \\+ b3.
    """

    form: Form | None = None  #: what bodies must look like; by default what the settings say of safety
    extra: Codes | None = None  #: bodies that are pooled beside those of the runs, [rules, m]
    #: Bodies of known rules, [rules, m]: they stay as they are, in the network and in the program, and
    #: what is learned is added to them.
    fixed: Codes | None = None
