"""Choosing a program among bodies: for rows, for definitions, or for the fewest errors.

`select` combines and refines rules by what they cover in one step,
`DefinitionChooser` judges recursive programs by all that they derive at their
fixpoint, `choose_revised` does so where facts are uncertain, and `fewest_errors`
counts wrong labels alone.
"""

from andre.learning.choose.covering import fewest_errors
from andre.learning.choose.definition import DefinitionChooser
from andre.learning.choose.pool import RulePool
from andre.learning.choose.refinement import neighbours
from andre.learning.choose.rejection import Rejected, rejected_rules
from andre.learning.choose.revision import Beliefs, Revised, Reviser, choose_revised
from andre.learning.choose.selection import Candidate, prune, select

__all__ = [
    "Beliefs",
    "Candidate",
    "DefinitionChooser",
    "Rejected",
    "Revised",
    "Reviser",
    "RulePool",
    "choose_revised",
    "fewest_errors",
    "neighbours",
    "prune",
    "rejected_rules",
    "select",
]
