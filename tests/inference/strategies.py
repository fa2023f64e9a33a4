"""Random safe programs and facts, small enough to ground by hand."""

from collections.abc import Mapping

from hypothesis import strategies as st

from andre.facts import FactBase, World
from andre.logic import Atom, Constant, Literal, Program, Rule, Variable

VARIABLES = [Variable(name) for name in "XYZ"]
CONSTANTS = [Constant("a"), Constant("B c"), Constant(2), Constant(2.0), Constant(-1.5)]
ARITY = {"e": 2, "f": 1, "p": 1, "q": 1, "r": 2, "s": 0, "t": 0}
WIDER = {**ARITY, "w": 3}
DEFINED = ["p", "q", "r", "s", "t", "f"]
PROBABILITIES = st.sampled_from([0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9, 1.0])

constants = st.sampled_from(CONSTANTS)


@st.composite
def ground_atoms(draw: st.DrawFn) -> Atom:
    name = draw(st.sampled_from(["e", "e", "f", "f", "r", "p", "s"]))
    return Atom(name, tuple(draw(constants) for _ in range(ARITY[name])))


@st.composite
def safe_rules(draw: st.DrawFn, probabilities: st.SearchStrategy[float]) -> Rule:
    def atom(name: str, terms: list[Variable]) -> Atom:
        if not terms:
            return Atom(name, tuple(draw(constants) for _ in range(ARITY[name])))
        choice = st.one_of(st.sampled_from(terms), st.sampled_from(terms), constants)
        return Atom(name, tuple(draw(choice) for _ in range(ARITY[name])))

    names = st.sampled_from(sorted(ARITY))
    body = [Literal(atom(draw(names), VARIABLES)) for _ in range(draw(st.integers(0, 2)))]
    bound = list(dict.fromkeys(v for literal in body for v in literal.variables))
    # Negation of what rules define, so that circles through it are common.
    defined = st.sampled_from(DEFINED)
    body += [Literal(atom(draw(defined), bound), negated=True) for _ in range(draw(st.integers(0, 2)))]
    if bound and draw(st.booleans()):
        term = st.one_of(st.sampled_from(bound), constants)
        sign = draw(st.sampled_from(["=", "\\=", "<", "=<", ">", ">="]))
        body.append(Literal(Atom(sign, (draw(term), draw(term))), draw(st.booleans())))
    head = atom(draw(st.sampled_from(DEFINED)), bound)
    return Rule(head, tuple(draw(st.permutations(body))), probability=draw(probabilities))


@st.composite
def free_headed_rules(draw: st.DrawFn, names: tuple[str, ...] = ("p", "q", "r", "w")) -> Rule:
    """Rules whose heads may repeat a variable, hold constants, and have variables that no literal binds."""

    def atom(name: str, terms: list[Variable]) -> Atom:
        choice = st.one_of(st.sampled_from(terms), st.sampled_from(terms), constants) if terms else constants
        return Atom(name, tuple(draw(choice) for _ in range(WIDER[name])))

    head = atom(draw(st.sampled_from(names)), VARIABLES)
    body = [Literal(atom(draw(st.sampled_from("ef")), VARIABLES)) for _ in range(draw(st.integers(0, 2)))]
    known = list(dict.fromkeys(v for some in (head, *body) for v in some.variables))
    body += [
        Literal(atom(draw(st.sampled_from("ef")), known), negated=True)
        for _ in range(draw(st.integers(0, 1)))
    ]
    if known and draw(st.booleans()):
        sign = draw(st.sampled_from(["=", "\\=", "<"]))
        body.append(Literal(Atom(sign, (draw(st.sampled_from(known)), draw(st.sampled_from(known))))))
    return Rule(head, tuple(body))


def programs(probabilities: st.SearchStrategy[float]) -> st.SearchStrategy[Program]:
    return st.lists(safe_rules(probabilities), min_size=1, max_size=6).map(
        lambda rules: Program(tuple(rules))
    )


crisp_programs = programs(st.just(1.0))
probable_programs = programs(st.one_of(st.just(1.0), PROBABILITIES))
crisp_facts = st.dictionaries(ground_atoms(), st.just(1.0), max_size=12)
probable_facts = st.dictionaries(ground_atoms(), PROBABILITIES, max_size=12)
#: Of value 0 where they are denied.
denied_facts = st.dictionaries(ground_atoms(), st.sampled_from([0.0, 0.0, 1.0]), max_size=12)
doubted_facts = st.dictionaries(
    ground_atoms(), st.sampled_from([0.0, 0.2, 0.3, 0.6, 0.8, 1.0, 1.0]), max_size=12
)
worlds = st.sampled_from(["closed", "open"])


def base(facts: Mapping[Atom, float], world: World = "closed") -> FactBase:
    """Facts of these probabilities, those of probability 0 denied."""
    stated = {atom: value for atom, value in facts.items() if value > 0}
    return FactBase.from_facts(
        stated,
        negatives=[atom for atom in facts if atom not in stated],
        probabilities=stated.values(),
        world=world,
    )
