"""From facts to rules: modes, languages, several targets, folders, and what is refused."""

from __future__ import annotations

from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from andre.errors import AndreError, ConfigError, DataError
from andre.facts import TASKS, FactBase, Task, read_facts
from andre.grounding import Census, Language
from andre.inference import infer
from andre.learning import Callback, Plan, State, Theory, learn, learnable
from andre.logic import Atom, Constant, Program, Rule, parse_atom, parse_program

#: Few short runs: on these small facts all short bodies are looked at anyway.
QUICK: dict[str, Any] = {"restarts": 1, "rounds": 1, "steps": 20}
every_task = pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)


def base(*texts: str, **options: Any) -> FactBase:
    return FactBase.from_facts([parse_atom(text) for text in texts], **options)


def chain(n: int = 7, **options: Any) -> FactBase:
    """A chain of edges, and the paths along them."""
    edges = [f"edge(n{place}, n{place + 1})" for place in range(n)]
    paths = [f"path(n{one}, n{two})" for one, two in product(range(n + 1), repeat=2) if one < two]
    return base(*edges, *paths, **options)


def quick(facts: FactBase, target: Any = None, plan: Plan | None = None, **options: Any) -> Theory:
    return learn(facts, target, plan, **(options if plan is not None else {**QUICK, **options}))


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


class Watch(Callback):
    """Notes which targets were counted, and which were told."""

    def __init__(self, interrupt_after: int | None = None) -> None:
        self.counted: list[str] = []
        self.told: list[str] = []
        self.interrupt_after = interrupt_after

    def on_census(self, census: Census) -> None:
        self.counted.append(census.space.head.predicate)

    def on_target(self, target: str, program: Program, seconds: float) -> None:
        del program
        assert seconds >= 0
        self.told.append(target)

    def on_step(self, state: State) -> None:
        del state
        if self.interrupt_after is not None and len(self.told) >= self.interrupt_after:
            raise KeyboardInterrupt


def two_targets() -> FactBase:
    """Paths along edges, and the same edges the other way."""
    facts = chain()
    back = [Atom("back", atom.args[::-1]) for atom in facts.atoms("edge", 2)]
    return facts.merge(FactBase.from_facts(back))


TARGETS = ["path/2", "back/2"]


def test_several_targets_one_after_another() -> None:
    watch = Watch()
    theory = quick(two_targets(), TARGETS, callbacks=[watch])
    assert watch.counted == ["path", "back"]
    assert watch.told == TARGETS == [made.target for made in theory]
    assert theory["path"] is theory["path/2"] is theory.definitions[0]
    assert theory.evaluate(two_targets()).overall.accuracy == 1
    assert len(theory.program) == sum(len(made.program) for made in theory)
    with pytest.raises(DataError, match="zig was not learned: there is path/2, back/2"):
        theory["zig"]
    again = quick(two_targets(), ["path", "path/2"])
    assert [made.target for made in again] == ["path/2"]  # one relation under two names


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_an_executor_learns_the_same(kind: type[Executor]) -> None:
    watch = Watch()
    alone = quick(two_targets(), TARGETS)
    how = {"mp_context": get_context("spawn")} if kind is ProcessPoolExecutor else {}
    with kind(2 if not how else 1, **how) as executor:
        shared = quick(two_targets(), TARGETS, executor=executor, callbacks=[watch])
    assert [made.target for made in shared] == TARGETS
    assert shared.program == alone.program
    assert [made.length for made in shared] == [made.length for made in alone]
    assert sorted(watch.told) == sorted(TARGETS)


def test_a_folder_keeps_what_is_done_and_goes_on_from_there(tmp_path: Path) -> None:
    facts = two_targets()
    stopped = quick(facts, TARGETS, out=tmp_path, callbacks=[Watch(interrupt_after=1)])
    # The first is whole, the second as far as it came; only the first is kept.
    assert [made.target for made in stopped] == TARGETS
    assert [made.result.stopped for made in stopped] == [None, "interrupted"]
    watch = Watch()
    whole = quick(facts, TARGETS, out=tmp_path, callbacks=[watch])
    assert watch.counted == ["back"]
    assert watch.told == TARGETS
    assert whole.program == quick(facts, TARGETS).program
    for again in (TARGETS, TARGETS[::-1], TARGETS[1]):
        watch = Watch()
        quick(facts, again, out=tmp_path, callbacks=[watch])
        assert watch.counted == []
    for changed in ({"variables": 2}, {"seed": 1}):
        watch = Watch()
        quick(facts, "back/2", out=tmp_path, callbacks=[watch], **changed)
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
    (definition,) = quick(chain(), ["path/2", "edge/2"], callbacks=[late])
    assert definition.result.stopped == "interrupted"
    assert late.rounds == 2


def test_ctrl_c_between_targets_keeps_what_is_done(tmp_path: Path) -> None:
    class Stop(Callback):
        def on_target(self, target: str, program: Program, seconds: float) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        quick(two_targets(), TARGETS, out=tmp_path, callbacks=[Stop()])
    watch = Watch()
    quick(two_targets(), TARGETS, out=tmp_path, callbacks=[watch])
    assert watch.counted == ["back"]


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
    ids=str,
)
@pytest.mark.parametrize("how", [{}, {"mode": "complete"}, {"preset": "paper", "singletons": False}], ids=str)
def test_rules_keep_to_the_language(options: dict[str, Any], breaks: Any, how: dict[str, Any]) -> None:
    theory = quick(chain(5), "path/2", **options, **how)
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
    assert not any(
        isinstance(arg, Constant) for rule in quick(facts, "british/1").program for lit in rule.body
        for arg in lit.atom.args
    )  # fmt: skip
    numbers = [(one, two) for one, two in product(range(0, 60, 7), repeat=2)]
    smaller = base(*(f"n({x})" for x in range(0, 60, 7)), *(f"less({x}, {y})" for x, y in numbers if x < y))
    theory = quick(smaller, "less/2", variables=2, order=True)
    assert theory.program == parse_program("less(X, Y) :- n(X), n(Y), X < Y.")
    assert not any(lit.atom.predicate == "<" for r in quick(smaller, "less/2").program for lit in r.body)


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


def test_a_target_without_a_rule_has_a_reason() -> None:
    rng = np.random.default_rng(3)
    names = [f"c{number}" for number in range(30)]
    facts = base(
        *(f"p({name})" for name in names if rng.random() < 0.5),
        *(f"q({name})" for name in names if rng.random() < 0.5),
        *(f"there({name})" for name in names),
    )
    theory = quick(facts, "p/1", variables=1)
    (definition,) = theory
    assert not len(theory.program)
    assert "too little support to tell it from chance" in str(definition.reason)
    assert definition.length == pytest.approx(definition.empty_length)
    # It still is judged: all true atoms are missed.
    overall = theory.evaluate(facts).overall
    assert overall.recall == 0
    assert not len(theory.predict(facts))


@pytest.mark.parametrize("mode", ["define", "complete"])
def test_a_time_limit_stops_the_runs_and_still_gives_a_sound_answer(mode: str) -> None:
    (definition,) = learn(chain(), "path/2", mode=mode, time_limit=1e-3)
    assert definition.result.stopped == "time"
    assert definition.length <= definition.empty_length + 1e-6
    assert (definition.reason is None) == (len(definition.program) > 0)


def test_what_was_left_out_is_told_with_its_reason() -> None:
    (definition,) = quick(chain(), "path/2")
    chosen = set(definition.program)
    assert 0 < len(definition.rejected) <= 20
    for item in definition.rejected:
        assert item.rule not in chosen
        assert item.reason
        assert item.rule.on("train") is not None


@pytest.mark.parametrize(
    ("facts", "target", "options", "says"),
    [
        (chain(), "road/2", {}, "there is no relation road/2: choose from edge/2, path/2"),
        (chain(), "path/3", {}, "there is no relation path/3"),
        (chain(), None, {}, "there is no target: name one of edge/2, path/2"),
        (chain(), [], {}, "there is no target"),
        (
            base("p(a)", "q(a)", "q(b)", marks=["test", "train", "train"]),
            "p/1", {}, "p/1 occurs only in test facts",
        ),
        (
            FactBase.from_facts([parse_atom("q(a)"), parse_atom("q(b)")], negatives=[parse_atom("p(a)")]),
            "p/1", {}, "all training facts of p/1 are denied",
        ),
        (
            base("p(a)", "p(b)", "q(a)", "q(b)", "q(c)", probabilities=[0.2, 0.3, 1, 1, 1]),
            "p/1", {"variables": 1}, "no atom of p/1 is more likely true than not",
        ),
        (base("p(a)", "p(b)", "q(a)", "q(b)"), "p/1", {"variables": 1}, "p/1 has no negative examples"),
        (
            base("p(a)", "p(b)", "q(a)", "q(c)", world="open"),
            "p/1", {"variables": 1}, "p/1 has no negative examples",
        ),
        (chain(), "path/2", {"variables": 9}, "there are 9 variables for 8 constants"),
        (chain(), "path/2", {"variables": 1}, "path/2 has 2 variables in its head"),
        (chain(), "path/2", {"relations": (), "inequality": True}, "leaves no candidate"),
        (chain(), "path/2", {"exclude": ("edge", "path")}, "leaves no candidate"),
        (chain(), "path/2", {"exclude": ("road",)}, "exclude names 'road'"),
        (chain(), "path/2", {"memory_limit": 10}, "raise the memory limit"),
        (chain(), "path/2", {"mode": "complete", "memory_limit": 10}, "raise the memory limit"),
        (chain(), "path/2", {"stepz": 3}, "there is no setting 'stepz'"),
        (chain(), "path/2", {"identity": True}, "identity has no meaning for a definition"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence(
    facts: FactBase, target: Any, options: dict[str, Any], says: str, tmp_path: Path
) -> None:
    with pytest.raises(AndreError, match=says) as caught:
        quick(facts, target, out=tmp_path / "run", **options)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "run").exists()  # nothing is half-written


def test_a_wrong_name_is_refused_before_anything_is_learned() -> None:
    watch = Watch()
    with pytest.raises(DataError, match="there is no relation road/2"):
        quick(chain(), ["path/2", "road/2"], callbacks=[watch])
    assert watch.counted == []


def test_a_plan_and_options_do_not_mix() -> None:
    plan = Plan.of(chain(), "path/2", **QUICK)
    assert quick(chain(), None, plan).program == quick(chain(), "path/2").program
    with pytest.raises(ConfigError, match="variables belongs in it"):
        quick(chain(), "path/2", plan, variables=2)


def test_a_language_may_name_the_target(tmp_path: Path) -> None:
    language = Language("path/2", recursion=False)
    assert not any(rule.is_recursive for rule in quick(chain(), language=language).program)
    (tmp_path / "bias.toml").write_text("target = 'path/2'\nmax_body = 1\n")
    theory = quick(chain(), language=tmp_path / "bias.toml")
    assert all(len(rule.body) == 1 for rule in theory.program)


def test_too_many_constants_for_tables_leave_recursion_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("andre.learning.defining._MOST_CELLS", 63)
    (definition,) = quick(chain(), "path/2")
    assert not any(rule.is_recursive for rule in definition.program)
    assert definition.notes == ("recursion was left out: 8 constants are too many for truth tables",)


def test_which_relations_can_be_learned() -> None:
    facts = FactBase.from_facts(
        map(parse_atom, ["p(a,b)", "p(b,c)", "q(a,c)", "s(a)", "s(b)", "now"]),
        negatives=[parse_atom("z(a)"), parse_atom("z(b)")],
        marks=["train", "train", "train", "test", "valid", "train"],
    )
    good, bad = learnable(facts)
    assert good == ["p/2"]
    assert bad == [
        "q/2 has only 1 fact to learn from: two are the least",
        "s/1 occurs only in test or validation facts",
        "now/0 has no arguments",
        "all training facts of z/1 are denied",
    ]
    for name in ("s/1", "now/0", "z/1"):
        with pytest.raises(DataError):
            quick(facts, name)


def test_runs_never_negate_where_the_language_forbids_it() -> None:
    task = TASKS["relatedness"]
    for seed in range(2):
        theory = learn(task.train(seed), task.target, negation=False, short_bodies=False, seed=seed)
        assert not (theory.definitions[0].result.proposed < 0).any()
