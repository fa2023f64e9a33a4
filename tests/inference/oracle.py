"""Well-founded models by their definition: every grounding, all atoms at once."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import product

from andre.logic import Atom, Constant, Literal, Program, Rule, Variable, unsafe_variables

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
    stated = list(facts)
    for rule in program:
        free = [(v, values_of(rule, v, stated)) for v in unsafe_variables(rule)]
        for values in product(constants, repeat=len(rule.variables)):
            bound = dict(zip(rule.variables, values, strict=True))
            if all(bound[variable] in some for variable, some in free):
                yield rule.substitute(bound)


def values_of(rule: Rule, variable: Variable, facts: list[Atom]) -> set[Constant]:
    """What a variable may stand for that only the head has: constants of the type of all its places there."""
    places = [place for place, arg in enumerate(rule.head.args) if arg == variable]
    return set.intersection(*(_of_type(rule.head, place, facts) for place in places))


def _of_type(head: Atom, place: int, facts: list[Atom]) -> set[Constant]:
    """The constants that some chain of arguments with a constant in common joins to one of a relation."""
    columns: dict[tuple[str, int, int], set[Constant]] = {}
    for atom in facts:
        for number, arg in enumerate(atom.args):
            assert isinstance(arg, Constant)
            columns.setdefault((atom.predicate, atom.arity, number), set()).add(arg)
    if (head.predicate, head.arity, place) not in columns:
        return set[Constant]().union(*columns.values())
    found = set(columns[head.predicate, head.arity, place])
    for _ in columns:
        for some in columns.values():
            found |= some if some & found else set()
    return found


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
