"""From data to weighted rows: the rule space and the sample a learner sees."""

from andre.grounding.sample import Sample
from andre.grounding.space import Codes, RuleSpace

__all__ = ["Codes", "RuleSpace", "Sample"]
