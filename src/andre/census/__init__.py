"""From facts to a sample without listing groundings: weighted distinct rows, or bags of rows.

`take_census` counts all examples of a target, `sample_census` those of head
atoms that stand for all.

- `census`: both functions, and what they give
- `plan`: by which strategies groundings are counted, and why
- `graph`, `strata`: facts as a labelled graph, groundings by which variables are equal
- `counting`, `listing`, `inner`, `profiles`: the four strategies for facts in memory
- `on_disk`: `census_on_disk`, for facts that outgrow it
- `bags`, `draw`: examples as sets of rows, random draws of examples
"""

from andre.census.census import Census, head_domains, sample_census, take_census
from andre.census.links import Growth
from andre.census.on_disk import census_on_disk
from andre.census.plan import CensusPlan, Draw, Mode, Semantics
from andre.census.reach import reach_census

__all__ = [
    "Census",
    "CensusPlan",
    "Draw",
    "Growth",
    "Mode",
    "Semantics",
    "census_on_disk",
    "head_domains",
    "reach_census",
    "sample_census",
    "take_census",
]
