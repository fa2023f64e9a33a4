"""From facts to rules: modes, languages, several targets, folders."""

from __future__ import annotations

from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.learning.small_facts import QUICK, TARGETS, Watch, base, chain, quick, two_targets

from andre.api import learn
from andre.census import Census
from andre.errors import AndreError, CheckpointError, ConfigError, DataError
from andre.evaluation import Confusion
from andre.facts import CLASSICAL_TASKS, TASKS, FactBase, Task, read_facts
from andre.inference import infer
from andre.learning import Callback, Plan, State, Theory
from andre.logic import Atom, Constant, Program, Rule, parse_atom, parse_program
from andre.runs import load


@pytest.fixture(scope="module")
def both() -> Theory:
    """Two targets, learned one after another and kept nowhere."""
    return quick(two_targets(), TARGETS)


every_task = pytest.mark.parametrize("task", CLASSICAL_TASKS.values(), ids=CLASSICAL_TASKS)


@every_task
def test_every_task_is_defined_for_its_larger_domain(task: Task) -> None:
    theory = learn(task.train(2), task.target, variables=task.variables, seed=2, **QUICK)
    assert theory.plan.mode == "define"
    assert theory.evaluate(task.test(2)).overall.accuracy == 1
    (definition,) = theory
    confusion = definition.confusion
    assert (confusion.false_positives, confusion.false_negatives) == (0, 0)
    assert definition.reason is None
    assert definition.length < definition.empty_length
    for rule in theory.program:
        check_form(rule)
        evidence = rule.on("train")
        assert evidence is not None
        assert evidence.n_r > 0
        assert evidence.confidence == 1


def check_form(rule: Rule) -> None:
    """Head variables stand in the body, and every other variable stands there twice."""
    args = [arg for literal in rule.body for arg in literal.atom.args]
    assert set(rule.head.args) <= set(args)
    assert all(args.count(variable) > 1 for variable in rule.auxiliary_variables)


def test_evidence_is_what_a_rule_derives_from_the_whole_definition() -> None:
    facts = chain()
    (definition,) = quick(facts, "path/2")
    background = facts.select("train")
    for rule in definition.program:
        # Under another name a rule derives one step from the facts, which here are the whole model.
        step = infer(Program((Rule(Atom("step", rule.head.args), rule.body),)), background)
        derived = {atom.args for atom in step.derived.atoms("step", 2)}
        evidence = rule.on("train")
        assert evidence is not None
        assert evidence.n_b == len(derived)
        assert evidence.n_r == sum(Atom("path", args) in facts for args in derived)


def test_rows_see_groundings_and_the_paper_its_own_language() -> None:
    facts = TASKS["directed_edge"].train(0)
    theory = quick(facts, "d_edge/2", variables=2, semantics="rows", recursion=False)
    assert theory.evaluate(facts).overall.accuracy == 1
    assert theory.plan.semantics == "rows"
    paper = Plan.of(facts, "d_edge/2", preset="paper")
    assert (paper.semantics, paper.short_bodies, paper.language.inequality) == ("rows", False, False)


def test_complete_reads_the_known_facts_and_says_that_variables_differ() -> None:
    names = "abcdefgh"
    pairs = [(one, two) for one in names for two in names if one < two]
    known = [f"below({one}, {two})" for one, two in pairs]
    rng = np.random.default_rng(0)
    held = rng.permutation(len(known)) < 5
    facts = base(*known, marks=["test" if out else "train" for out in held])
    theory = quick(facts, "below/2", mode="complete")
    assert theory.plan.identity
    assert len(theory.program)
    for rule in theory.program:
        different = [lit for lit in rule.body if lit.atom.predicate == "\\="]
        assert len(different) == len(rule.variables) * (len(rule.variables) - 1) // 2
    tested = [parse_atom(text) for text, out in zip(known, held, strict=True) if out]
    model = theory.predict(facts)
    assert sum(atom in model for atom in tested) >= 3
    assert theory.evaluate(facts).overall.recall is not None


def test_the_origin_chooses_the_mode(tmp_path: Path) -> None:
    lines = "".join(f"{one}\tbelow\t{two}\n" for one, two in product("abcd", repeat=2) if one < two)
    (tmp_path / "small.tsv").write_text(lines)
    assert Plan.of(read_facts(tmp_path / "small.tsv"), "below/2").mode == "complete"
    assert Plan.of(chain(), "path/2").mode == "define"
    assert Plan.of(chain(), "path/2", mode="complete").identity
    for wrong in ({"mode": "guess"}, {"semantics": "forall"}, {"preset": "papyrus"}, {"stepz": 3}):
        with pytest.raises(ConfigError):
            Plan.of(chain(), "path/2", **wrong)


def test_several_targets_one_after_another() -> None:
    watch = Watch()
    theory = quick(two_targets(), TARGETS, callbacks=[watch])
    assert watch.counted == ["path", "back"]
    assert watch.summary == TARGETS == [made.target for made in theory]
    assert theory["path"] is theory["path/2"] is theory.definitions[0]
    assert theory.evaluate(two_targets()).overall.accuracy == 1
    assert len(theory.program) == sum(len(made.program) for made in theory)
    with pytest.raises(DataError, match="zig was not learned: there is path/2, back/2"):
        theory["zig"]
    again = quick(two_targets(), ["path", "path/2"])
    assert [made.target for made in again] == ["path/2"]  # one relation under two names


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_an_executor_learns_the_same(kind: type[Executor], both: Theory) -> None:
    watch = Watch()
    how = {"mp_context": get_context("spawn")} if kind is ProcessPoolExecutor else {}
    with kind(2 if not how else 1, **how) as executor:
        shared = quick(two_targets(), TARGETS, executor=executor, callbacks=[watch])
    assert [made.target for made in shared] == TARGETS
    assert shared.program == both.program
    assert [made.length for made in shared] == [made.length for made in both]
    assert sorted(watch.summary) == sorted(TARGETS)


def test_a_folder_keeps_what_is_done_and_goes_on_from_there(tmp_path: Path, both: Theory) -> None:
    facts = two_targets()
    stopped = quick(facts, TARGETS, out=tmp_path, callbacks=[Watch(interrupt_after=1)], always_run=True)
    # The first is whole, the second as far as it came; only the first is kept.
    assert [made.target for made in stopped] == TARGETS
    assert [made.result.stopped for made in stopped] == [None, "interrupted"]
    watch = Watch()
    whole = quick(facts, TARGETS, out=tmp_path, callbacks=[watch], always_run=True)
    assert watch.counted == ["back"]
    assert watch.summary == TARGETS
    assert whole.program == both.program
    for again in (TARGETS, TARGETS[::-1], TARGETS[1]):
        watch = Watch()
        quick(facts, again, out=tmp_path, callbacks=[watch], always_run=True)
        assert watch.counted == []
    for changed in ({"variables": 2}, {"seed": 1}):
        watch = Watch()
        quick(facts, "back/2", out=tmp_path, callbacks=[watch], always_run=True, **changed)
        assert watch.counted == ["back"]


def test_other_facts_or_another_world_are_learned_anew(tmp_path: Path) -> None:
    stated = ["p(a)", "p(b)", *(f"q({name})" for name in "abcdefgh")]
    denied = [parse_atom(f"p({name})") for name in "cdefgh"]
    worlds = [
        FactBase.from_facts(map(parse_atom, stated), negatives=denied, world=w) for w in ("closed", "open")
    ]
    for facts in (*worlds, worlds[1].merge(base("q(z)"))):
        watch = Watch()
        quick(facts, "p/1", variables=1, out=tmp_path, callbacks=[watch])
        assert watch.counted == ["p"]


def test_an_interruption_of_any_run_is_seen() -> None:
    """The second set of runs, without recursion, may be the one that is stopped."""

    class Late(Callback):
        rounds = 0

        def on_step(self, state: State) -> None:
            if state.runs is not None and state.runs.step == 1:
                self.rounds += 1
            if self.rounds == 2:
                raise KeyboardInterrupt

    late = Late()
    (definition,) = quick(chain(), ["path/2", "edge/2"], callbacks=[late], always_run=True)
    assert definition.result.stopped == "interrupted"
    assert late.rounds == 2


class StopAfterOne(Callback):
    """Ctrl-C when a target is done."""

    def on_target(self, target: str, program: Program, seconds: float) -> None:
        raise KeyboardInterrupt


def test_ctrl_c_between_targets_gives_and_keeps_what_is_done(tmp_path: Path) -> None:
    stopped = quick(two_targets(), TARGETS, out=tmp_path, callbacks=[StopAfterOne()])
    assert [made.target for made in stopped] == TARGETS[:1]
    assert load(tmp_path).program == stopped.program
    watch = Watch()
    quick(two_targets(), TARGETS, out=tmp_path, callbacks=[watch])
    assert watch.counted == ["back"]


def test_ctrl_c_before_any_target_is_done_has_nothing_to_give() -> None:
    class Stop(Callback):
        def on_census(self, census: Census) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        quick(two_targets(), TARGETS, callbacks=[Stop()])


def test_ctrl_c_begins_nothing_more_of_an_executor() -> None:
    waiting: list[Future[Any]] = []

    class Lazy(Executor):
        """Does the first task at once and never begins another."""

        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            future: Future[Any] = Future()
            if not waiting:
                future.set_result(fn(*args, **kwargs))
            waiting.append(future)
            return future

    stopped = quick(two_targets(), TARGETS, executor=Lazy(), callbacks=[StopAfterOne()])
    assert len(stopped.definitions) == 1
    assert [future.cancelled() for future in waiting] == [False, True]


def test_a_process_that_is_killed_is_said_to_be(tmp_path: Path) -> None:
    class Broken(Executor):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            future: Future[Any] = Future()
            future.set_exception(BrokenProcessPool("terminated abruptly"))
            return future

    with pytest.raises(AndreError, match=r"want of memory: .* keeps what is done"):
        quick(two_targets(), TARGETS, executor=Broken(), out=tmp_path)


def test_what_ctrl_c_cut_short_can_be_read(tmp_path: Path) -> None:
    stopped = quick(
        two_targets(), TARGETS, out=tmp_path, callbacks=[Watch(interrupt_after=1)], always_run=True
    )
    again = load(tmp_path)
    assert [made.result.stopped for made in again] == [None, "interrupted"]
    assert again.program == stopped.program


def test_a_run_that_was_killed_says_how_to_go_on(tmp_path: Path) -> None:
    quick(two_targets(), TARGETS, out=tmp_path)
    (tmp_path / "run.json").unlink()
    with pytest.raises(CheckpointError, match="the call of andre learn that began it goes on"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("options", "breaks"),
    [
        ({"max_body": 1}, lambda rule: len(rule.body) > 1),
        ({"negation": False}, lambda rule: any(lit.negated for lit in rule.body)),
        ({"recursion": False}, lambda rule: rule.is_recursive),
        ({"require": ("edge",)}, lambda rule: all(lit.atom.predicate != "edge" for lit in rule.body)),
        ({"exclude": ("edge(X1,X2)",)}, lambda rule: "edge(X1, X2)" in map(str, rule.body)),
        ({"variables": 2}, lambda rule: len(rule.variables) > 2),
        ({"inequality": False}, lambda rule: any(lit.is_builtin for lit in rule.body)),
        ({"relations": ("edge",)}, lambda rule: any(lit.atom.predicate == "path" for lit in rule.body)),
        ({"max_rules": 1}, None),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
@pytest.mark.parametrize("how", [{}, {"mode": "complete"}, {"preset": "paper", "singletons": False}], ids=str)
def test_rules_keep_to_the_language(options: dict[str, Any], breaks: Any, how: dict[str, Any]) -> None:
    theory = quick(chain(5), "path/2", widen=False, invent=0, **options, **how)
    if breaks is None:
        assert len(theory.program) <= 1 or how.get("preset") == "paper"  # the paper combines no rules
    elif not (theory.plan.identity and "inequality" in options):  # which says by \\= what it means
        assert not [rule for rule in theory.program if breaks(rule)]
    if not how:
        assert all(check_form(rule) is None for rule in theory.program)


def test_constants_and_order_may_be_asked_for() -> None:
    people = [f"p{number}" for number in range(24)]
    liked = [f"likes({name}, {'tea' if place % 3 else 'milk'})" for place, name in enumerate(people)]
    old = [f"age({name}, {20 + place})" for place, name in enumerate(people)]
    british = [f"british({name})" for place, name in enumerate(people) if place % 3]
    facts = base(*liked, *old, *british)
    theory = quick(facts, "british/1", variables=2, constants=("likes/2:2",), types=True)
    assert theory.program == parse_program("british(X) :- likes(X, tea).") or theory.program == parse_program(
        "british(X) :- likes(X, Y), \\+ likes(X, milk)."
    )
    # Unasked they come where nothing else explains the examples.
    assert quick(facts, "british/1", variables=3).program == parse_program("british(X) :- likes(X, tea).")
    numbers = [(one, two) for one, two in product(range(0, 60, 7), repeat=2)]
    smaller = base(*(f"n({x})" for x in range(0, 60, 7)), *(f"less({x}, {y})" for x, y in numbers if x < y))
    theory = quick(smaller, "less/2", variables=2, order=True)
    assert theory.program == parse_program("less(X, Y) :- n(X), n(Y), X < Y.")
    assert not any(
        lit.atom.predicate == "<" for r in quick(smaller, "less/2", variables=3).program for lit in r.body
    )


def test_stated_negatives_are_the_only_ones() -> None:
    names = [f"c{number}" for number in range(30)]
    stated = [f"p({name})" for name in names[:10]]
    marks = [f"q({name})" for name in (*names[:10], *names[20:])]
    everyone = [f"there({name})" for name in names]
    denied = [parse_atom(f"p({name})") for name in names[10:20]]
    for world in ("closed", "open"):
        facts = FactBase.from_facts(
            map(parse_atom, [*stated, *marks, *everyone]), negatives=denied, world=world
        )
        (definition,) = quick(facts, "p/1", variables=1)
        # Of c20 to c29 nothing is said, so q may hold of them, too.
        assert definition.program == parse_program("p(X) :- q(X).")
        assert definition.confusion.total == 20
    closed = FactBase.from_facts(map(parse_atom, [*stated, *marks, *everyone]))
    assert quick(closed, "p/1", variables=1)["p"].confusion.total == 30


def test_what_an_open_world_leaves_unknown_is_learned_and_predicted_as_unknown() -> None:
    """Of a third of the names nothing says whether they are ill: to be judged and derived without."""
    well, ill, unknown = ([f"{kind}{number}" for number in range(10)] for kind in ("well", "ill", "unknown"))
    stated = [f"name({name})" for name in (*well, *ill, *unknown)] + [f"ill({name})" for name in ill]
    fit, unfit = [*well, *unknown[:5]], [*ill, *unknown[5:]]
    facts = FactBase.from_facts(
        map(parse_atom, [*stated, *(f"fit({name})" for name in fit)]),
        negatives=map(parse_atom, [*(f"ill({name})" for name in well), *(f"fit({name})" for name in unfit)]),
        world="open",
    )
    theory = quick(facts, "fit/1", variables=1)
    (definition,) = theory
    assert definition.program == parse_program("fit(X) :- name(X), \\+ ill(X).")
    counted = definition.program.rules[0].on("train")
    assert counted is not None
    assert (counted.n_b, counted.n_r) == (10, 10)
    assert {str(atom) for atom in theory.predict(facts)} == {f"fit({name})" for name in well}
    assert theory.evaluate(facts).overall == definition.confusion == Confusion(10, 0, 5, 15)


def test_labels_may_be_probabilities() -> None:
    names = [f"c{number}" for number in range(40)]
    true = [place % 2 == 0 for place in range(40)]
    rng = np.random.default_rng(0)
    chances = [0.8 if holds else 0.2 for holds in true]
    stated = [f"p({name})" for name in names] + [
        f"q({name})" for name, holds in zip(names, true, strict=True) if holds
    ]
    noise = [f"r({name})" for name in names if rng.random() < 0.5]
    facts = base(*stated, *noise, probabilities=[*chances, *[1.0] * (len(stated) - 40 + len(noise))])
    for mode in ("define", "complete"):
        theory = quick(facts, "p/1", variables=1, mode=mode)
        assert theory.program == parse_program("p(X) :- q(X).")


def test_background_rules_are_run_first() -> None:
    facts = base("mother(ann, bob)", "father(cy, bob)", "father(bob, dan)", "mother(eve, dan)")
    grand = base(*(f"gp({one}, dan)" for one in ("ann", "cy")))
    people = [facts.merge(grand)]
    for copy in range(1, 4):  # more families of the same kind
        renamed = [
            Atom(atom.predicate, tuple(Constant(f"{arg}{copy}") for arg in atom.args))
            for key in people[0].relations
            for atom in people[0].atoms(*key)
        ]
        people.append(FactBase.from_facts(renamed))
    whole = people[0]
    for more in people[1:]:
        whole = whole.merge(more)
    rules = parse_program("parent(X, Y) :- mother(X, Y). parent(X, Y) :- father(X, Y).")
    theory = quick(whole.with_rules(rules), "gp/2")
    assert theory.program == parse_program("gp(X, Y) :- parent(X, Z), parent(Z, Y).")
    assert theory.evaluate(whole.with_rules(rules)).overall.accuracy == 1


def tangle(n: int) -> FactBase:
    """Pairs, half of them known from both sides, amid links at random that make no two things alike."""
    draw = np.random.default_rng(0)
    likes = [f"likes(a{place}, b{place})" for place in range(n)]
    back = [f"liked(b{place}, a{place})" for place in range(0, n, 2)]
    knows = [
        f"knows({'ab'[i % 2]}{i // 2}, {'ab'[j % 2]}{j // 2})"
        for i, j in draw.integers(2 * n, size=(6 * n, 2))
    ]
    return base(*likes, *back, *knows)


def test_a_census_that_outgrows_its_memory_is_drawn() -> None:
    facts, small = tangle(40), {"mode": "complete", "memory_limit": 300_000}
    with pytest.raises(DataError, match="MB allowed"):  # four variables cannot be drawn
        quick(facts, "liked/2", variables=4, **small)
    with pytest.raises(DataError, match="MB allowed"):
        quick(facts, "liked/2", semantics="rows", **small | {"memory_limit": 10})
    (made,) = quick(facts, "likes/2", fallback_heads=1000, **small)
    assert str(made.program.rules[0]) == "likes(X1, X2) :- liked(X2, X1), X1 \\= X2."
    assert any("1,000 head atoms were drawn to stand for all" in note for note in made.notes)
    (whole,) = quick(facts, "likes/2", mode="complete")
    assert whole.program == made.program
    assert not whole.notes


def test_fewer_head_atoms_are_drawn_where_memory_is_short() -> None:
    small = {"mode": "complete", "memory_limit": 150_000}
    (made,) = quick(tangle(40), "likes/2", fallback_heads=4000, **small)
    assert str(made.program.rules[0]) == "likes(X1, X2) :- liked(X2, X1), X1 \\= X2."
    assert any("1,000 head atoms were drawn to stand for all" in note for note in made.notes)


def test_head_atoms_are_drawn_on_request() -> None:
    facts = tangle(40)
    (made,) = quick(facts, "likes/2", mode="complete", heads=1000)
    assert str(made.program.rules[0]) == "likes(X1, X2) :- liked(X2, X1), X1 \\= X2."
    (note,) = made.notes
    assert note.startswith("1,000 head atoms were drawn to stand for all")
    assert "memory" not in note
    with pytest.raises(ConfigError, match="drawn in mode 'complete'"):
        quick(facts, "likes/2", mode="define", heads=1000)
    with pytest.raises(ConfigError, match="one variable more"):
        quick(facts, "likes/2", mode="complete", variables=4, heads=1000)
