"""Well-founded models by their definition: every grounding, all atoms at once."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import product

from andre.logic import Atom, Constant, Literal, Program, Rule

Values = dict[Atom, float]


def well_founded(
    program: Program, facts: Mapping[Atom, float], world: str = "closed"
) -> tuple[Values, Values]:
    """What is at least and what is at most true; they are equal where the model is total.

    Facts of value 0 are denied. In an open world nothing else that is absent is false.
    """
    ground = list(_ground(program, facts))
    if world == "open":
        ground = [rule for rule in ground if all(_is_known(literal, facts) for literal in rule.body)]
    lower: Values = {}
    upper = _least(ground, facts, lower)
    while True:
        raised = _least(ground, facts, upper)
        lowered = _least(ground, facts, raised)
        if (raised, lowered) == (lower, upper):
            return lower, upper
        lower, upper = raised, lowered


def _ground(program: Program, facts: Iterable[Atom]) -> Iterator[Rule]:
    atoms = [*facts, *(rule.head for rule in program), *(lit.atom for rule in program for lit in rule.body)]
    constants = list(dict.fromkeys(arg for atom in atoms for arg in atom.args if isinstance(arg, Constant)))
    for rule in program:
        for values in product(constants, repeat=len(rule.variables)):
            yield rule.substitute(dict(zip(rule.variables, values, strict=True)))


def _is_known(literal: Literal, facts: Mapping[Atom, float]) -> bool:
    """Whether a literal, if it is negated, is of an atom that facts state or deny."""
    return not literal.negated or literal.is_builtin or literal.atom in facts


def _least(ground: list[Rule], facts: Mapping[Atom, float], against: Values) -> Values:
    values = {atom: value for atom, value in facts.items() if value > 0}
    while True:
        before = dict(values)
        for rule in ground:
            value = min(
                [rule.probability, *(_value(literal, values, against) for literal in rule.body)], default=1.0
            )
            if value > values.get(rule.head, 0.0):
                values[rule.head] = value
        if values == before:
            return values


def _value(literal: Literal, values: Values, against: Values) -> float:
    atom = literal.atom
    if atom.is_builtin:
        return float(compare(atom) != literal.negated)
    return 1 - against.get(atom, 0.0) if literal.negated else values.get(atom, 0.0)


def compare(atom: Atom) -> bool:
    """Whether a ground comparison holds."""
    left, right = (arg.value for arg in atom.args if isinstance(arg, Constant))
    if atom.predicate in ("=", "\\="):
        return ((type(left), left) == (type(right), right)) == (atom.predicate == "=")
    if isinstance(left, str) or isinstance(right, str):
        return False
    return {"<": left < right, "=<": left <= right, ">": left > right, ">=": left >= right}[atom.predicate]
