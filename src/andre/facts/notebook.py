"""Facts as a small HTML table, for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from andre.logic.writers.html import html_table

if TYPE_CHECKING:
    from andre.facts.base import FactBase

__all__ = ["facts_html"]

#: Relations that a notebook shows before it says how many more there are.
_MOST = 30


def facts_html(facts: FactBase) -> str:
    """A line per relation, those with most facts first: how many facts, and one of them.

    Examples
    --------
    >>> from andre.facts import FactBase
    >>> from andre.logic import Atom
    >>> "p(&#x27;&lt;a&gt;&#x27;)" in facts_html(FactBase.from_facts([Atom.parse("p('<a>')")]))
    True
    """
    ranked = sorted(facts.relations.values(), key=lambda relation: -len(relation))
    lines = [
        [f"{relation.name}/{relation.arity}", f"{len(relation):,}", str(next(facts.atoms(*relation.key)))]
        for relation in ranked[:_MOST]
        if len(relation)
    ]
    hidden = len(ranked) - _MOST
    more = f" {hidden} more relations." if hidden > 0 else ""
    return html_table(["relation", "facts", "for example"], lines, f"{facts!r}.{more}")
