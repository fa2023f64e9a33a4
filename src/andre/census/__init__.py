"""From facts to a sample, without listing groundings."""

from andre.census.census import Census, Mode, Semantics, head_domains, sample_census, take_census

__all__ = ["Census", "Mode", "Semantics", "head_domains", "sample_census", "take_census"]
