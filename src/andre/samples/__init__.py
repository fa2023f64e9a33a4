"""What a learner sees: the rule space, the language of a target, weighted rows and bags of rows."""

from andre.samples.form import Form
from andre.samples.language import Key, Language, evidence_mask, key_text
from andre.samples.membership import Membership
from andre.samples.sample import Sample, check_valuations, check_weights, sums_of
from andre.samples.space import Codes, RuleSpace
from andre.samples.synthetic import SYNTHETIC_TASKS, SyntheticTask, random_task
from andre.samples.thresholds import Thresholds

__all__ = [
    "SYNTHETIC_TASKS",
    "Codes",
    "Form",
    "Key",
    "Language",
    "Membership",
    "RuleSpace",
    "Sample",
    "SyntheticTask",
    "Thresholds",
    "check_valuations",
    "check_weights",
    "evidence_mask",
    "key_text",
    "random_task",
    "sums_of",
]
