"""From facts to a sample without listing groundings: weighted distinct rows, or bags of rows.

`take_census` counts all examples of a target, `sample_census` those of head
atoms that stand for all. `CensusPlan` says by which strategies, and why.
"""

from andre.census.census import Census, head_domains, sample_census, take_census
from andre.census.plan import CensusPlan, Mode, Semantics

__all__ = ["Census", "CensusPlan", "Mode", "Semantics", "head_domains", "sample_census", "take_census"]
