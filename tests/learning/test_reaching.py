"""Rules of many variables from what examples reach, judged on further examples drawn in the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
from tests.learning.small_facts import QUICK, base

import andre
from andre.census import reach_census
from andre.errors import DataError
from andre.facts import FactBase, read_facts
from andre.inference import infer
from andre.learning import Definition, learn
from andre.learning.relational import definitions
from andre.learning.relational.reach_search import ReachSearch
from andre.learning.relational.reaching import needs_reach
from andre.limits import OutOfTimeError
from andre.logic import ORDERS, Atom, Variable, parse_atom, parse_program
from andre.samples import Language

Lines = Iterator[str]


def trains(rng: Random, n: int) -> Lines:
    """Trains of three cars, of which one is short and one closed, be it the same or not."""
    for train in range(n):
        cars = [f"c{train}_{place}" for place in range(3)]
        yield from (f"has_car(t{train}, {car})" for car in cars)
        short, closed = rng.choice(cars), rng.choice(cars)
        yield f"short({short})"
        yield f"closed({closed})"
        yield from (f"load({car}, {rng.choice(('coal', 'iron', 'corn'))})" for car in cars)


def scenes(rng: Random, n: int) -> Lines:
    """Pieces of many colours and sizes, some of which touch."""
    for scene in range(n):
        pieces = [f"p{scene}_{place}" for place in range(4)]
        for piece in pieces:
            yield f"piece(s{scene}, {piece})"
            yield f"{rng.choice(('red', 'blue', 'green'))}({piece})"
            yield f"{rng.choice(('small', 'large'))}({piece})"
        one, two = rng.sample(pieces, 2)
        yield f"touches({one}, {two})"
        yield f"touches({two}, {one})"


def boards(rng: Random, n: int) -> Lines:
    """A rook and a king on a board of four by four."""
    for board in range(n):
        for piece in ("rook", "king"):
            yield f"at(b{board}, {piece}, {rng.randint(1, 4)}, rank{rng.randint(1, 4)})"


def parts(rng: Random, n: int) -> Lines:
    """Things with parts of some colour and weight."""
    for thing in range(n):
        for place in range(3):
            part = f"q{thing}_{place}"
            yield f"part(i{thing}, {part})"
            yield f"colour({part}, {rng.choice(('red', 'blue', 'green', 'white'))})"
            yield f"weight({part}, {rng.randint(10, 60) / 10})"


def staff(rng: Random, n: int) -> Lines:
    """Employees with a boss and a salary each."""
    for place in range(n):
        yield f"boss(e{place}, e{rng.randrange(n)})"
        yield f"salary(e{place}, {rng.randint(20, 90)})"


def traces(rng: Random, n: int) -> Lines:
    """Events of some kind at moments of their own."""
    for trace in range(n):
        for time in range(rng.randint(3, 5)):
            yield f"event(v{trace}, m{trace}_{time}, {rng.choice(('open', 'read', 'write', 'close'))})"


TASKS: dict[str, tuple[Callable[[Random, int], Lines], str, str]] = {
    "the same car": (trains, "t", "h(X) :- has_car(X, Y), short(Y), closed(Y)."),
    "a load": (trains, "t", "h(X) :- has_car(X, Y), short(Y), load(Y, coal)."),
    "two pieces": (scenes, "s", "h(X) :- piece(X, Y), red(Y), touches(Y, Z), blue(Z)."),
    "one file": (boards, "b", "h(X) :- at(X, rook, F, R), at(X, king, F, S)."),
    "a constant": (parts, "i", "h(X) :- part(X, Y), colour(Y, red)."),
    "one number and another": (staff, "e", "h(X) :- boss(X, Y), salary(X, N), salary(Y, M), M < N."),
    "two constants": (traces, "v", "h(X) :- event(X, T, open), event(X, T1, close)."),
    "a cut": (parts, "i", "h(X) :- part(X, Y), weight(Y, N), N > 5.2."),
}


def drawn(task: str, seed: int, n: int = 40) -> tuple[FactBase, FactBase, set[Atom]]:
    """The background, the same with examples and counterexamples, and all that is true."""
    draw, letter, text = TASKS[task]
    background = base(*dict.fromkeys(draw(Random(seed), n)))
    true = set(infer(parse_program(text), background))
    every = [parse_atom(f"h({letter}{number})") for number in range(n)]
    examples = FactBase.from_facts(
        sorted(true, key=str), negatives=[atom for atom in every if atom not in true]
    )
    return background, background.merge(examples), true


def learned(facts: FactBase, target: str = "h/1", variables: int = 4, **options: object) -> Definition:
    assert needs_reach(facts, Language(target, variables=variables))
    (definition,) = andre.learn(facts, target, variables=variables, **{**QUICK, **options})
    return definition


@pytest.mark.parametrize("task", TASKS)
def test_what_is_learned_holds_of_further_examples(task: str) -> None:
    _, facts, _ = drawn(task, seed=0)
    made = learned(facts, variables={"one file": 7, "two constants": 3}.get(task, 4), recursion=False)
    assert made.flawless, str(made.program)
    later, _, true = drawn(task, seed=1)
    assert set(infer(made.program, later)) == true, str(made.program)


def test_a_head_may_have_a_constant() -> None:
    rng = Random(0)
    degrees = {f"d{number}": rng.randint(0, 39) + 0.5 for number in range(40)}
    facts = base(*(f"degrees({day}, {value})" for day, value in degrees.items()))
    weather = {day: "hot" if value > 20 else "cold" for day, value in degrees.items()}
    true = [parse_atom(f"feels({day}, {kind})") for day, kind in weather.items()]
    false = [
        parse_atom(f"feels({day}, {'cold' if kind == 'hot' else 'hot'})") for day, kind in weather.items()
    ]
    made = learned(facts.merge(FactBase.from_facts(true, negatives=false)), "feels/2", recursion=False)
    assert made.flawless
    assert set(infer(made.program, facts)) == set(true)
    assert {str(rule.head.args[1]) for rule in made.program} == {"hot", "cold"}


def test_in_an_open_world_silence_denies_nothing() -> None:
    """Only what is stated to be false makes a negation true."""
    lines = [f"part(i{n}, q{n}_{k})" for n in range(12) for k in range(3)]
    true, false = ([parse_atom(f"h(i{n})") for n in range(12) if n % 2 == odd] for odd in (0, 1))
    marked = [parse_atom(f"broken(q{n}_0)") for n in range(1, 12, 2)]
    facts = FactBase.from_facts([*map(parse_atom, lines), *true, *marked], negatives=false, world="open")
    (made,) = andre.learn(facts, "h/1", variables=4, recursion=False, **QUICK)
    assert not any(
        literal.negated and not literal.is_builtin for rule in made.program for literal in rule.body
    )


def test_what_is_excluded_is_no_candidate() -> None:
    _, facts, _ = drawn("two pieces", seed=0)
    names = {"touches", "blue", "red"}
    for excluded, kept in (((), names), (("touches", "blue/1"), {"red"})):
        space = reach_census(facts, Language("h/1", variables=4, exclude=excluded)).space
        assert names & {atom.predicate for atom in space.atoms} == kept


def test_reach_is_for_many_variables_or_arguments() -> None:
    facts = base(*(f"p({n}, {n + 1})" for n in range(99)), *(f"q({n}, {n}, {n})" for n in range(99)))
    assert needs_reach(facts, Language("p/2", variables=4))
    assert needs_reach(facts, Language("p/2", variables=3))
    assert not needs_reach(facts, Language("p/2", variables=3, relations=("p/2",)))
    assert not needs_reach(facts, Language("p/2", variables=2))
    few = base("p(a, b)", "q(b, c)")
    assert not needs_reach(few, Language("p/2", variables=6))
    assert not needs_reach(few, Language("p/2", variables=3, relations=("p/2",), recursion=False))


def equal_ends(rng: Random) -> FactBase:
    """Triples whose first and last are the same, among others, and a relation that says nothing of them."""
    names = [f"c{number}" for number in range(30)]
    facts = [f"q({rng.choice(names)}, {rng.choice(names)})" for _ in range(60)]
    triples = [rng.choices(names, k=2) for _ in range(30)]
    true = {f"h({one}, {two}, {one})" for one, two in triples}
    false = {f"h({one}, {two}, {three})" for one, two, three in (rng.sample(names, 3) for _ in range(40))}
    return FactBase.from_facts(
        map(parse_atom, [*facts, *sorted(true)]), negatives=map(parse_atom, sorted(false))
    )


@pytest.mark.parametrize("seed", range(3))
def test_a_head_may_repeat_a_variable_and_have_one_that_stands_for_anything(seed: int) -> None:
    (made,) = andre.learn(equal_ends(Random(seed)), "h/3", variables=4, seed=seed, **QUICK)
    assert made.program == parse_program("h(X, Y, X).")
    assert made.flawless


@pytest.mark.parametrize("trouble", [DataError("nothing to say"), OutOfTimeError("too late")])
def test_what_was_found_stays_where_a_wider_language_fails(
    trouble: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, asked = ReachSearch.definition, list[bool]()

    def definition(self: ReachSearch) -> Definition:
        asked.append(self.language.free_head)
        if self.language.free_head:
            raise trouble
        return whole(self)

    monkeypatch.setattr(ReachSearch, "settled", None)  # as if search alone found nothing
    monkeypatch.setattr(ReachSearch, "definition", definition)
    (made,) = andre.learn(equal_ends(Random(0)), "h/3", variables=4, recursion=False, invent=0, **QUICK)
    assert asked == [False, True]
    assert not made.flawless


ANDERSEN = """
addr(v2, v1).  addr(v6, v7).  assgn(v3, v2).  assgn(v4, v3).  assgn(v5, v6).  store(v5, v4).  load(v8, v5).
"""


def test_positives_alone_are_told_by_rules_not_restated(tmp_path: Path) -> None:
    """What pointers point to: rules that read themselves, no list of examples, though none is false."""
    pairs = ["v2,v1", "v3,v1", "v4,v1", "v6,v7", "v5,v7", "v7,v1", "v8,v1"]
    (tmp_path / "bk.pl").write_text(ANDERSEN)
    (tmp_path / "exs.pl").write_text("".join(f"pos(pt({pair})).\n" for pair in pairs))
    names = ("addr", "assgn", "store", "load")
    bias = ["enable_recursion.", "head_pred(pt, 2).", *(f"body_pred({name}, 2)." for name in names)]
    (tmp_path / "bias.pl").write_text("\n".join(bias))
    (made,) = learn(read_facts(tmp_path))
    assert made.flawless
    assert any(rule.is_recursive for rule in made.program)
    assert all(rule.body for rule in made.program)
    assert any("no example is stated to be false" in note for note in made.notes)


def test_a_chain_of_five_moves_from_one_example(tmp_path: Path) -> None:
    """Moves there and back lead nowhere new, so that five of them are within reach."""
    size = 9
    moves = {"up": (0, 1), "down": (0, -1), "left": (-1, 0), "right": (1, 0)}
    lines = [
        f"{name}(w{x}{y}, w{x + dx}{y + dy})."
        for name, (dx, dy) in moves.items()
        for x in range(size)
        for y in range(size)
        if 0 <= x + dx < size and 0 <= y + dy < size
    ]
    (tmp_path / "bk.pl").write_text("\n".join(lines))
    (tmp_path / "exs.pl").write_text(
        "pos(f(w11, w61)). neg(f(w11, w21)). neg(f(w21, w11)). neg(f(w11, w41))."
    )
    ways = [f"direction({name}, (in, out))." for name in ("f", *moves)]
    bias = ["head_pred(f, 2).", *(f"body_pred({name}, 2)." for name in moves), *ways]
    (tmp_path / "bias.pl").write_text("\n".join(bias))
    (made,) = learn(read_facts(tmp_path))
    assert made.flawless
    assert [literal.atom.predicate for literal in made.program.rules[0].body] == ["right"] * 5


def test_where_few_groundings_are_alike_they_are_not_counted() -> None:
    """Of things with many qualities each, all triples are of kinds of their own."""
    rng = Random(0)
    lines = [f"q{n}(e{m})" for m in range(150) for n in range(12) if rng.random() < 0.5]
    facts = FactBase.from_facts(map(parse_atom, [*lines, *(f"h(e{m})" for m in range(120))]))
    plain = FactBase.from_facts(map(parse_atom, [f"p(e{m}, e{m + 1})" for m in range(150)] + ["h(e1)"]))
    assert [needs_reach(facts, Language("h/1", variables=n)) for n in (2, 3)] == [False, True]
    assert not needs_reach(plain, Language("h/1", variables=3))


def test_a_rule_of_one_range_of_numbers_is_found_without_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = {"a": 3, "b": 5, "c": 9, "d": 1, "e": 7, "f": 6, "g": 12}
    lines = [f"size({name}, {size})" for name, size in sizes.items()]
    true, false = ([name for name, size in sizes.items() if (4 < size < 8) is side] for side in (True, False))
    facts = FactBase.from_facts(
        map(parse_atom, [*lines, *(f"good({name})" for name in true)]),
        negatives=[parse_atom(f"good({name})") for name in false],
    )

    def refuse(*given: object, **settings: object) -> None:
        raise AssertionError("runs were made")

    monkeypatch.setattr(definitions, "propose_bodies", refuse)
    (made,) = learn(facts, "good/1", seed=0)
    assert made.flawless
    assert len(made.program) == 1


def test_a_column_of_words_follows_from_one_of_another_table() -> None:
    """No quality of a key tells anything of its value, as every key has a true one: both are needed."""
    rng = Random(0)
    lines = [f"located(u{unit}, {'abroad' if unit % 2 else 'home'})" for unit in range(4)]
    for person in range(30):
        unit = rng.randrange(4)
        lines += [f"unit(e{person}, u{unit})", f"allowance(e{person}, {'full' if unit % 2 else 'none'})"]
    made = learn(FactBase.from_facts(lines), "allowance/2", **QUICK)
    assert set(map(str, made.program)) == {
        f"allowance(X1, {pay}) :- unit(X1, X2), located(X2, {where})."
        for pay, where in (("full", "abroad"), ("none", "home"))
    }


def test_numbers_that_share_no_value_are_compared() -> None:
    due = {"a": 12, "b": 30, "c": 21, "d": 45, "e": 9, "f": 38, "g": 27, "h": 16}
    paid = {"a": 15, "b": 22, "c": 24, "d": 40, "e": 13, "f": 39, "g": 20, "h": 11}
    lines = [
        f"{what}({bill}, {day})" for what, of in (("due", due), ("paid", paid)) for bill, day in of.items()
    ]
    facts = base(*lines, *(f"late({bill})" for bill in due if paid[bill] > due[bill]))
    (made,) = learn(facts, "late/1", **QUICK)
    assert made.program == parse_program("late(X1) :- due(X1, X2), paid(X1, X3), X2 < X3.")


def test_labels_that_are_wrong_are_not_cut_out_of_numbers() -> None:
    """One short rule that is mostly right says more than a range for every example, without any runs."""
    rng = Random(1)
    ages = {f"p{number}": rng.randint(1, 90) for number in range(40)}
    wrong = set(rng.sample(sorted(ages), 4))
    true = [name for name, age in ages.items() if (age > 60) is (name not in wrong)]
    facts = FactBase.from_facts(
        map(
            parse_atom, [*(f"age({name}, {age})" for name, age in ages.items()), *(f"ill({n})" for n in true)]
        ),
        negatives=[parse_atom(f"ill({name})") for name in sorted(ages.keys() - set(true))],
    )
    (made,) = learn(facts, "ill/1", **QUICK)
    assert len(made.program) == 1
    assert "age(X1, X2)" in str(made.program)


def test_names_of_examples_are_not_cut_beside_a_bias(tmp_path: Path) -> None:
    rng = Random(0)
    (tmp_path / "bk.pl").write_text("".join(f"size({n}, {rng.randint(1, 9)}).\n" for n in range(40)))
    signs = ("pos", "neg")
    (tmp_path / "exs.pl").write_text("".join(f"{signs[n < 20]}(f({n})).\n" for n in range(40)))
    (tmp_path / "bias.pl").write_text("head_pred(f, 1).\nbody_pred(size, 2).\n")
    facts = read_facts(tmp_path)
    space = reach_census(facts, Language("f/1", variables=3)).space
    cuts = {atom.args[0] for atom in space.atoms if atom.predicate in ORDERS and len(atom.variables) == 1}
    assert cuts
    assert Variable("X1") not in cuts
