"""From data to weighted rows: the language, the rule space, the census and the sample a learner sees."""

from andre.grounding.census import Census, take_census
from andre.grounding.language import Language
from andre.grounding.membership import Membership
from andre.grounding.sample import Sample
from andre.grounding.sampling import sample_census
from andre.grounding.space import Codes, RuleSpace

__all__ = ["Census", "Codes", "Language", "Membership", "RuleSpace", "Sample", "sample_census", "take_census"]
