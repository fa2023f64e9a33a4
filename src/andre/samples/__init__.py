"""Samples and rule spaces, the input of learners.

`Language` describes which atoms and bodies the rules of a target may have; over
facts it gives a `RuleSpace`, whose columns are the candidate atoms, and a
`Form`, which decides whether a body over these columns is well-formed. A
`Sample` holds weighted rows of valuations over a rule space, or sets of rows
by a `Membership`. `Encoding` turns the columns of any table into candidate atoms
and its rows into bins (`BinnedTable`), and `SYNTHETIC_TASKS` has samples
whose program is known.
"""

from andre.samples.binned import BinnedColumn, BinnedTable
from andre.samples.column_encoding import ColumnEncoding, EncodingLimits, quantile_gaps
from andre.samples.encoding import ColumnSummary, Encoding
from andre.samples.form import Form
from andre.samples.language import Language, check_setting
from andre.samples.membership import Membership
from andre.samples.sample import (
    LARGE,
    Sample,
    Valuations,
    check_valuations,
    check_weights,
    scaled_to_rows,
    sums_of,
)
from andre.samples.space import Codes, RuleSpace
from andre.samples.synthetic import SYNTHETIC_TASKS, SyntheticTask, random_task

__all__ = [
    "LARGE",
    "SYNTHETIC_TASKS",
    "BinnedColumn",
    "BinnedTable",
    "Codes",
    "ColumnEncoding",
    "ColumnSummary",
    "Encoding",
    "EncodingLimits",
    "Form",
    "Language",
    "Membership",
    "RuleSpace",
    "Sample",
    "SyntheticTask",
    "Valuations",
    "check_setting",
    "check_valuations",
    "check_weights",
    "quantile_gaps",
    "random_task",
    "scaled_to_rows",
    "sums_of",
]
