"""Linear recursion from few examples, against programs that are run by an engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from andre.facts import Bias, FactBase
from andre.inference import infer
from andre.learning import background_of, learn, listed_labels
from andre.learning.recursion.components import Growth, Vocabulary
from andre.learning.recursion.goal_chains import ChainLimits, ChainSearch
from andre.logic import Atom, Constant, Literal, Program, Rule, Variable
from andre.samples import Language

Items = tuple[int, ...]
TYPES = {
    "head": ("list", "element"),
    "tail": ("list", "list"),
    "empty": ("list",),
    "even": ("element",),
    "zero": ("element",),
    "one": ("element",),
    "decrement": ("element", "element"),
    "geq": ("element", "element"),
}
WAYS = {
    "head": ("in", "out"),
    "tail": ("in", "out"),
    "empty": ("in",),
    "even": ("in",),
    "zero": ("out",),
    "one": ("out",),
    "decrement": ("in", "out"),
    "geq": ("in", "in"),
}
TOP = 12


def term(value: Items | int) -> Constant:
    return Constant(f"[{','.join(map(str, value))}]" if isinstance(value, tuple) else value)


def tabled(lists: list[Items]) -> list[Atom]:
    """What holds of lists, of their tails, and of numbers."""
    atoms = [Atom("zero", (term(0),)), Atom("one", (term(1),))]
    for items in {whole[place:] for whole in lists for place in range(len(whole) + 1)}:
        if items:
            atoms.append(Atom("head", (term(items), term(items[0]))))
            atoms.append(Atom("tail", (term(items), term(items[1:]))))
        else:
            atoms.append(Atom("empty", (term(items),)))
    for one in range(TOP):
        atoms += [Atom("even", (term(one),))] * (one % 2 == 0)
        atoms += [Atom("decrement", (term(one), term(one - 1)))] * (one > 0)
        atoms += [Atom("geq", (term(one), term(two))) for two in range(one + 1)]
    return atoms


def a_list(rng: np.random.Generator) -> Items:
    return tuple(rng.integers(0, TOP, rng.integers(2, 8)).tolist())


def all_even(rng: np.random.Generator) -> tuple[tuple[Items | int, ...], bool]:
    items = a_list(rng)
    items = tuple(item - item % 2 for item in items) if rng.random() < 0.5 else items
    return (items,), not any(item % 2 for item in items)


def is_sorted(rng: np.random.Generator) -> tuple[tuple[Items | int, ...], bool]:
    items = a_list(rng)
    items = tuple(sorted(items)) if rng.random() < 0.5 else items
    return (items,), list(items) == sorted(items)


def last(rng: np.random.Generator) -> tuple[tuple[Items | int, ...], bool]:
    items = a_list(rng)
    item = items[int(rng.integers(len(items)))] if rng.random() < 0.5 else items[-1]
    return (items, item), item == items[-1]


def drop(rng: np.random.Generator) -> tuple[tuple[Items | int, ...], bool]:
    items = a_list(rng)
    count, other = int(rng.integers(1, len(items))), int(rng.integers(len(items)))
    rest = items[count if rng.random() < 0.5 else other :]
    return (items, count, rest), rest == items[count:]


def drawn(
    draw: Callable[[np.random.Generator], tuple[tuple[Items | int, ...], bool]], seed: int, n: int
) -> dict[bool, list[tuple[Items | int, ...]]]:
    rng = np.random.default_rng(seed)
    found: dict[bool, list[tuple[Items | int, ...]]] = {True: [], False: []}
    while min(map(len, found.values())) < n:
        values, holds = draw(rng)
        if values not in found[holds] and len(found[holds]) < n:
            found[holds].append(values)
    return found


def length(rng: np.random.Generator) -> tuple[tuple[Items | int, ...], bool]:
    items = a_list(rng)
    count = len(items) if rng.random() < 0.5 else int(rng.integers(1, 8))
    return (items, count), count == len(items)


def test_a_literal_may_need_what_the_recursive_one_answers() -> None:
    """The length of a list is one more than that of its tail, where nothing is known to count down by."""
    shown = drawn(length, 0, 10)
    every = [values for part in shown.values() for values in part]
    atoms = [atom for atom in tabled([values[0] for values in every]) if atom.predicate != "decrement"]
    atoms += [Atom("increment", (term(one), term(one + 1))) for one in range(TOP)]
    stated = {kind: [Atom("f", tuple(map(term, values))) for values in shown[kind]] for kind in shown}
    facts = FactBase.from_facts([*atoms, *stated[True]], negatives=stated[False])
    ways = {**WAYS, "increment": ("in", "out"), "f": ("in", "out")}
    facts = replace(facts, bias=Bias(directions=tuple(ways.items())))
    types = tuple({**TYPES, "increment": ("element", "element"), "f": ("list", "element")}.items())
    language = Language("f/2", 5, types=types, negation=False, inequality=False)
    search = ChainSearch(Vocabulary(facts, language), listed_labels(facts, language), m=60)
    assert {str(rule.tidy()) for rule in search.programs()[0]} == {
        "f(X1, X2) :- tail(X1, X3), f(X3, X4), increment(X4, X2).",
        "f(X1, X2) :- empty(X1), zero(X2).",
    }


def largest(rng: np.random.Generator) -> tuple[tuple[Items | int, ...], bool]:
    items = tuple(rng.integers(0, 5, rng.integers(1, 6)).tolist())
    item = items[int(rng.integers(len(items)))] if rng.random() < 0.5 else max(items)
    return (items, item), item == max(items)


def joined(rng: np.random.Generator) -> tuple[tuple[Items | int, ...], bool]:
    one, two = a_list(rng)[:3], a_list(rng)[:3]
    made = one + two if rng.random() < 0.5 else two + one
    return (one, two, made), made == one + two


@pytest.mark.parametrize("draw", [largest, joined])
def test_programs_that_answer_are_found_from_few_examples(
    draw: Callable[[np.random.Generator], tuple[tuple[Items | int, ...], bool]],
) -> None:
    """By two recursive rules, and by a base case with equal arguments of the head."""
    shown, unseen = drawn(draw, 0, 12), drawn(draw, 100, 20)
    every = [values for part in (*shown.values(), *unseen.values()) for values in part]
    lists = {
        value[at:] for values in every for value in values if isinstance(value, tuple) for at in range(9)
    }
    atoms = [*tabled(sorted(lists)), *(Atom("cons", tuple(map(term, (s[0], s[1:], s)))) for s in lists if s)]
    stated = {kind: [Atom("f", tuple(map(term, values))) for values in shown[kind]] for kind in shown}
    kinds = tuple("list" if isinstance(value, tuple) else "element" for value in every[0])
    own = ("in",) * (len(kinds) - 1) + ("out",)
    ways = {**WAYS, "cons": ("in", "in", "out"), "f": own}
    facts = FactBase.from_facts([*atoms, *stated[True]], negatives=stated[False])
    facts = replace(facts, bias=Bias(directions=tuple(ways.items())))
    types = tuple({**TYPES, "cons": ("element", "list", "list"), "f": kinds}.items())
    relations = ("head/2", "tail/2", "empty/1", "geq/2", "cons/3")
    language = Language(
        f"f/{len(kinds)}", 6, relations=relations, types=types, negation=False, inequality=False
    )
    program = ChainSearch(Vocabulary(facts, language), listed_labels(facts, language), m=60).programs()[0]
    key = "f", len(kinds)
    derived = set(infer(program, background_of(facts, key), engine="clingo").derived.atoms(*key))
    for holds, values in unseen.items():
        right = [(Atom("f", tuple(map(term, value))) in derived) == holds for value in values]
        assert np.mean(right) == 1, str(program)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("draw", [all_even, is_sorted, last, drop])
def test_list_programs_are_found_from_ten_examples_of_each_kind(
    draw: Callable[[np.random.Generator], tuple[tuple[Items | int, ...], bool]], seed: int
) -> None:
    shown, unseen = drawn(draw, seed, 10), drawn(draw, seed + 100, 30)
    every = [values for part in (*shown.values(), *unseen.values()) for values in part]
    atoms = tabled([value for values in every for value in values if isinstance(value, tuple)])
    stated = {kind: [Atom("f", tuple(map(term, values))) for values in shown[kind]] for kind in shown}
    kinds = tuple("list" if isinstance(value, tuple) else "element" for value in every[0])
    facts = FactBase.from_facts([*atoms, *stated[True]], negatives=stated[False])
    facts = replace(facts, bias=Bias(directions=tuple(WAYS.items())))
    types = tuple({**TYPES, "f": kinds}.items())
    language = Language(f"f/{len(kinds)}", 5, types=types, negation=False, inequality=False)
    search = ChainSearch(Vocabulary(facts, language), listed_labels(facts, language), m=60)
    program = search.programs()[0]
    key = "f", len(kinds)
    derived = set(infer(program, background_of(facts, key), engine="clingo").derived.atoms(*key))
    for holds, values in unseen.items():
        right = [(Atom("f", tuple(map(term, value))) in derived) == holds for value in values]
        assert np.mean(right) == 1, str(program)


def test_a_list_program_is_found_though_one_label_in_eight_is_turned() -> None:
    """No program agrees with all of them, and the one that is true describes them shortest."""
    shown = drawn(drop, 0, 40)
    labels = [(values, holds) for holds, part in shown.items() for values in part]
    turned = [(values, holds != (place % 8 == 0)) for place, (values, holds) in enumerate(labels)]
    atoms = tabled([value for values, _ in labels for value in values if isinstance(value, tuple)])
    stated = {
        kind: [Atom("f", tuple(map(term, v))) for v, holds in turned if holds == kind] for kind in shown
    }
    facts = FactBase.from_facts([*atoms, *stated[True]], negatives=stated[False])
    facts = replace(facts, bias=Bias(directions=tuple(WAYS.items())))
    types = tuple({**TYPES, "f": ("list", "element", "list")}.items())
    language = Language("f/3", 5, types=types, negation=False, inequality=False)
    search = ChainSearch(Vocabulary(facts, language), listed_labels(facts, language), m=60)
    program = search.programs()[0]
    derived = set(infer(program, background_of(facts, ("f", 3)), engine="clingo").derived.atoms("f", 3))
    for values, holds in labels:
        assert (Atom("f", tuple(map(term, values))) in derived) == holds, str(program)


def test_learning_takes_a_program_without_mistakes_from_chains() -> None:
    """The base case of `last` is no example, and ten examples are too few for five literals."""
    shown = drawn(last, 0, 10)
    atoms = tabled(
        [value for part in shown.values() for values in part for value in values if isinstance(value, tuple)]
    )
    stated = {kind: [Atom("f", tuple(map(term, values))) for values in shown[kind]] for kind in shown}
    facts = FactBase.from_facts([*atoms, *stated[True]], negatives=stated[False])
    types = tuple({**TYPES, "f": ("list", "element")}.items())
    quick = {"restarts": 1, "rounds": 1, "steps": 20, "negation": False, "inequality": False}
    (definition,) = learn(facts, "f/2", variables=3, types=types, **quick)
    assert (definition.confusion.false_positives, definition.confusion.false_negatives) == (0, 0)
    assert any(rule.is_recursive for rule in definition.program)
    assert definition.weak is not None


@settings(max_examples=25)
@given(st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=9), st.integers(0, 5))
def test_chains_say_what_the_engine_derives(edges: set[tuple[int, int]], mark: int) -> None:
    """Every program that is given covers of the examples just what it covers on the chains."""
    atoms = [Atom("edge", tuple(map(Constant, pair))) for pair in sorted(edges)]
    atoms.append(Atom("mark", (Constant(mark),)))
    true = [Atom("h", (Constant(place),)) for place in range(6) if place % 2]
    false = [Atom("h", (Constant(place),)) for place in range(6) if place % 2 == 0]
    facts = FactBase.from_facts([*atoms, *true], negatives=false)
    language = Language("h/1", 3, negation=False, inequality=False)
    search = ChainSearch(
        Vocabulary(facts, language), listed_labels(facts, language), m=9, limits=ChainLimits(led=0)
    )
    starts = search._of_size(1)
    for found in (one for start in starts for one in (start.found, *search._guarded(start, []))):
        program = search._program(found)
        model = infer(program, background_of(facts, ("h", 1)), engine="clingo").derived
        derived = set(model.atoms("h", 1)) if ("h", 1) in model.relations else set()
        assert found.flawless == (derived >= set(true) and not derived & set(false))


@settings(max_examples=25)
@given(st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=8))
def test_components_are_true_where_their_literals_are(edges: set[tuple[int, int]]) -> None:
    atoms = [Atom("edge", tuple(map(Constant, pair))) for pair in sorted(edges)]
    facts = FactBase.from_facts([*atoms, Atom("u", (Constant(0),)), Atom("h", (Constant(1),))])
    language = Language("h/1", 3)
    words = Vocabulary(facts, language)
    tuples = np.arange(len(facts.constants))[:, None]
    for component in words.components(tuples, words.kinds, Growth(literals=2, extra=1, fan_out=50)):
        names = [words.known.coder.keys[atom.relation][0] for atom in component.literals]
        body = tuple(
            Atom(name, tuple(Variable(f"X{-term}") for term in atom.terms))
            for name, atom in zip(names, component.literals, strict=True)
        )
        rule = Rule(Atom("found", (Variable("X1"),)), tuple(map(Literal, body)))
        model = infer(Program((rule,)), facts, engine="clingo").derived
        wanted = {atom.args[0].value for atom in model.atoms("found", 1)}
        assert {facts.constants[place] for place in np.flatnonzero(component.truth)} == wanted


def filtered(rng: np.random.Generator) -> tuple[tuple[Items | int, ...], bool]:
    items = tuple(rng.integers(0, TOP, rng.integers(1, 5)).tolist())
    right = tuple(item for item in items if item % 2 == 0)
    kept = rng.random(len(items)) < 0.5
    other = tuple(item for item, keep in zip(items, kept, strict=True) if keep)
    given = right if rng.random() < 0.5 else other
    return (items, given), given == right


def test_two_recursive_rules_with_conditions_of_their_own() -> None:
    """A filter goes on with the first element where it is even, and without it where it is odd."""
    shown = drawn(filtered, 1, 8)
    every = [value for part in shown.values() for values in part for value in values]
    atoms = tabled([value for value in every if isinstance(value, tuple)])
    atoms += [Atom("odd", (term(one),)) for one in range(1, TOP, 2)]
    tails = {value[place:] for value in every if isinstance(value, tuple) for place in range(len(value) + 1)}
    atoms += [Atom("cons", (term(tail[0]), term(tail[1:]), term(tail))) for tail in sorted(tails) if tail]
    stated = {kind: [Atom("f", tuple(map(term, values))) for values in shown[kind]] for kind in shown}
    facts = FactBase.from_facts([*atoms, *stated[True]], negatives=stated[False])
    own = {"odd": ("in",), "cons": ("in", "in", "out"), "f": ("in", "out"), "empty": ("out",)}
    names = ("head", "tail", "empty", "even", "odd", "cons")
    facts = replace(facts, bias=Bias(directions=tuple({**WAYS, **own}.items())))
    kinds = {"odd": ("element",), "cons": ("element", "list", "list"), "f": ("list", "list")}
    types = tuple({**TYPES, **kinds}.items())
    language = Language("f/2", 6, relations=names, types=types, negation=False, inequality=False)
    search = ChainSearch(Vocabulary(facts, language), listed_labels(facts, language), m=60)
    assert {str(rule.tidy()) for rule in search.programs()[0]} == {
        "f(X1, X2) :- tail(X1, X3), head(X1, X4), odd(X4), f(X3, X2).",
        "f(X1, X2) :- head(X1, X3), tail(X1, X4), even(X3), f(X4, X5), cons(X3, X5, X2).",
        "f(X1, X2) :- empty(X2), empty(X1).",
    }
