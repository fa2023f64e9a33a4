"""Choosing a program among bodies: for rows, for definitions, or for the fewest errors.

`select` combines and refines rules by what they cover in one step,
`DefinitionChooser` judges recursive programs by all that they derive at their
fixpoint, and `fewest_errors` counts wrong labels alone.
"""

from andre.learning.choose.covering import fewest_errors
from andre.learning.choose.definition import DefinitionChooser
from andre.learning.choose.pool import RulePool
from andre.learning.choose.refinement import neighbours
from andre.learning.choose.rejection import Rejected, rejected_rules
from andre.learning.choose.selection import Candidate, prune, select

__all__ = [
    "Candidate",
    "DefinitionChooser",
    "Rejected",
    "RulePool",
    "fewest_errors",
    "neighbours",
    "prune",
    "rejected_rules",
    "select",
]
