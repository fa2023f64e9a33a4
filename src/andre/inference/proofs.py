"""Proofs without circles: an order in which atoms can be proved without a given one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import TypeAlias

from andre.logic import Atom

#: The derived atoms that one grounding of a rule needs.
Body: TypeAlias = frozenset[Atom]


def proof_ranks(
    premises: Body, without: Atom, bodies: Callable[[Atom], list[Body] | None]
) -> Mapping[Atom, int] | None:
    """Ranks by which premises, and all that they depend on, can be proved without using some atom.

    Premises have lower ranks than what they prove. An atom without
    a rank cannot be proved without the given one.

    Parameters
    ----------
    premises, without
        The atoms to be proved, and the one that no proof may use.
    bodies
        The groundings that derive an atom: an empty list if it needs no proof, None if there are too
        many.

    Returns
    -------
    Mapping | None
        None if there are too many groundings to decide.

    Examples
    --------
    >>> h, b, c, d = (Atom(name) for name in "hbcd")
    >>> rules = {h: [{b}, {c}], b: [{h}], c: [{d}], d: []}
    >>> for premise in (b, c):
    ...     ranks = proof_ranks(frozenset([premise]), h, lambda one: [frozenset(body) for body in rules[one]])
    ...     print({str(one): rank for one, rank in ranks.items()})
    {}
    {'d': 0, 'c': 1}
    """
    needs: dict[Atom, list[Body]] = {}
    waiting = deque(premises)
    while waiting:
        one = waiting.popleft()
        if one in needs or one == without:
            continue
        found = bodies(one)
        if found is None:
            return None
        needs[one] = found
        waiting.extend(premise for body in found if without not in body for premise in body)
    users: dict[Atom, list[tuple[Atom, list[int]]]] = {}
    proved: deque[Atom] = deque()
    for one, found in needs.items():
        if not found or frozenset() in found:
            proved.append(one)
            continue
        for body in found:
            left = [len(body)]  # premises without a proof so far
            for premise in body:
                users.setdefault(premise, []).append((one, left))
    ranks: dict[Atom, int] = {}
    while proved:
        one = proved.popleft()
        if one in ranks:
            continue
        ranks[one] = len(ranks)
        for user, left in users.get(one, ()):
            left[0] -= 1
            if not left[0]:
                proved.append(user)
    return ranks
