"""Known rules stay as they are, in the network and in the program, and are added to."""

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from andre.api import learn
from andre.errors import CheckpointError, ConfigError
from andre.facts import TASKS, FactBase
from andre.learning import Callback, Config, Guide, State, fit, with_inequalities
from andre.learning.choose.selection import nothing
from andre.learning.descent.extraction import settled_weights
from andre.learning.descent.trainer import Trainer
from andre.learning.plan import encode_known, with_background
from andre.logic import Program, parse_program, parse_rule
from andre.runs import Checkpoint, load
from andre.samples import SYNTHETIC_TASKS as TABLES
from andre.samples import RuleSpace

SPACE = RuleSpace.from_names(["p(X1,X3)", "p(X3,X2)", "q(X1,X2)", "q(X2,X1)", "u(X3)"], "h(X1,X2)")
R2 = TABLES["R2"]
CODES = R2.space.encode(R2.program)
FAST = {"restarts": 1, "rounds": 1, "steps": 60}


@given(arrays(np.int8, (3, SPACE.m), elements=st.integers(-1, 1)), st.booleans())
def test_rules_become_the_bodies_they_are_written_from(codes: np.ndarray, identity: bool) -> None:
    codes = codes[codes.any(axis=1)]
    program = SPACE.program(codes)
    if identity:
        program = Program(tuple(map(with_inequalities, program)))
    renamed = Program(tuple(parse_rule(str(rule).replace("X", "Other")) for rule in program))
    for written in (program, renamed):
        found = encode_known(written, SPACE, identity=identity)
        assert SPACE.program(found) == SPACE.program(codes)


@pytest.mark.parametrize(
    "rule", ["h(X,Y) :- r(X,Y).", "h(X,Y) :- p(X,Z), p(Z,V), q(V,Y).", "h(X,Y) :- q(X,Y), X \\= Y."]
)
def test_what_cannot_be_said_is_refused(rule: str) -> None:
    with pytest.raises(ConfigError, match=r"cannot be kept: .*; allow more variables or relations"):
        encode_known(parse_program(rule), SPACE, identity=False)


class Watched(torch.nn.Module):
    """A network that notes the weights of the last subrules whenever it is called."""

    def __init__(self, network: torch.nn.Module, fixed: int) -> None:
        super().__init__()
        self.network, self.fixed = network, fixed
        self.seen: list[torch.Tensor] = []

    def forward(self, weights: torch.Tensor, *others: object) -> torch.Tensor:
        self.seen.append(weights[:, -self.fixed :].detach().clone())
        return self.network(weights, *others)


def test_the_weights_of_known_rules_never_move() -> None:
    config = Config.preset(restarts=2, rounds=1, steps=40)
    trainer = Trainer(R2.sample(150, noise=0.1, seed=0), config, guide=Guide(fixed=CODES[:2]))
    trainer.descent.network = watched = Watched(trainer.descent.network, 2)
    state = State(trainer.crisp, 1, trainer.steps, best=nothing(trainer.crisp), runs=trainer.start(0))
    trainer.train(state, (), lambda: None)
    wanted = settled_weights(CODES[:2])
    assert len(watched.seen) >= 30
    for seen in watched.seen:
        assert (seen == wanted).all()
    assert torch.softmax(wanted, dim=-1).max(dim=-1).values.min() > 1 - 1e-6


@pytest.mark.parametrize("place", range(len(CODES)))
def test_learning_adds_the_rules_that_are_missing(place: int) -> None:
    for seed in range(3):
        sample = R2.sample(300, noise=0.1, seed=seed)
        result = fit(sample, Config.preset(seed=seed, rounds=1), guide=Guide(fixed=CODES[[place]]))
        assert result.program.rules[0] == R2.space.rule(CODES[place])
        assert result.program == R2.program


def test_a_wrong_rule_stays_and_is_counted_as_what_it_is() -> None:
    wrong = np.zeros((1, R2.space.m), dtype=np.int8)
    wrong[0, -2:] = (1, -1)
    assert R2.space.rule(wrong[0]) not in R2.program
    sample = R2.sample(300, seed=0)
    result = fit(sample, Config.preset(rounds=1), guide=Guide(fixed=wrong))
    first = result.program.rules[0]
    assert first == R2.space.rule(wrong[0])
    assert first.evidence[0].confidence < 0.9
    assert set(R2.program) <= set(result.program)


def test_when_nothing_is_missing_nothing_is_added() -> None:
    result = fit(R2.sample(300, seed=0), Config.preset(**FAST), guide=Guide(fixed=CODES))
    assert result.program == R2.program
    assert len(result.program) == len(CODES)


class Stop(Callback):
    """Stops after a few steps."""

    def on_step(self, state: object) -> None:
        raise KeyboardInterrupt


def test_a_checkpoint_made_beside_other_rules_is_refused(tmp_path: Path) -> None:
    sample, config = R2.sample(100, seed=0), Config.preset(**FAST)
    fit(sample, config, guide=Guide(fixed=CODES[:1]), checkpoint=Checkpoint(tmp_path), callbacks=[Stop()])
    for other in (Guide(fixed=CODES[1:2]), Guide()):
        with pytest.raises(CheckpointError, match="made with other known rules"):
            fit(sample, config, guide=other, checkpoint=Checkpoint(tmp_path))
    assert fit(sample, config, guide=Guide(fixed=CODES[:1]), checkpoint=Checkpoint(tmp_path)).stopped is None


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    "rule", ["related(A,B) :- parent(A,B).", "related(A,B) :- related(A,C), related(C,B)."]
)
def test_a_definition_is_added_to(rule: str, seed: int) -> None:
    task = TASKS["relatedness"]
    known = parse_program(rule)
    theory = learn(task.train(), "related/2", known=known, seed=seed, **FAST)
    assert theory.program.rules[0] == known.rules[0]
    assert theory.program.rules[0].on("train") is not None
    assert theory.evaluate(task.test()).overall.accuracy == 1.0


def test_a_wrong_rule_of_a_definition_stays() -> None:
    known = parse_program("predecessor(X,Y) :- successor(X,Y).")
    theory = learn(TASKS["predecessor"].train(), "predecessor/2", known=known, variables=2, **FAST)
    assert theory.program.rules[0] == known.rules[0]
    assert parse_rule("predecessor(X,Y) :- successor(Y,X).") in theory.program


@pytest.mark.parametrize("name", ["predecessor", "even"])
def test_a_whole_definition_needs_nothing_more(name: str) -> None:
    task = TASKS[name]
    known = parse_program(task.definition)
    theory = learn(task.train(), task.target, known=known, variables=2, **FAST)
    alone = learn(task.train(), task.target, variables=2, **FAST)
    assert theory.program == alone.program == known
    (definition,), (other,) = theory, alone
    assert definition.length == pytest.approx(other.length)
    assert definition.empty_length == pytest.approx(other.empty_length)
    assert definition.confusion == other.confusion


def grandparents() -> FactBase:
    return TASKS["grandparent"].train()


PARENTS = "parent(X,Y) :- mother(X,Y). parent(X,Y) :- father(X,Y)."


def test_rules_of_other_relations_are_background() -> None:
    theory = learn(grandparents(), "grandparent/2", known=parse_program(PARENTS), **FAST)
    assert theory.program == parse_program("grandparent(X,Y) :- parent(X,Z), parent(Z,Y).")
    facts = with_background(grandparents(), theory.plan.known, {("grandparent", 2)})
    assert len(facts.rules) == 2


@pytest.mark.parametrize("mode", ["define", "complete"])
def test_known_rules_are_kept_in_both_modes(mode: str) -> None:
    known = parse_program("grandparent(X,Y) :- mother(X,Z), father(Z,Y).")
    theory = learn(grandparents(), "grandparent/2", known=known, mode=mode, **FAST)
    first = theory.program.rules[0]
    assert first == (with_inequalities(known.rules[0]) if mode == "complete" else known.rules[0])
    assert len(theory.program) == 4


def test_a_folder_keeps_what_was_learned_beside_the_same_rules_only(tmp_path: Path) -> None:
    facts = TASKS["predecessor"].train()
    seen = []

    class Count(Callback):
        def on_census(self, census: object) -> None:
            seen.append(census)

    def again(known: Program) -> Program:
        options = {"known": known, "variables": 2, "out": tmp_path, "invent": 0, **FAST}
        return learn(facts, "predecessor/2", callbacks=[Count()], **options).program

    known = parse_program("predecessor(X,Y) :- successor(X,Y).")
    first = again(known)
    assert again(known) == first
    assert len(seen) == 1
    assert load(tmp_path).plan.known == known
    assert again(Program()) == parse_program("predecessor(X,Y) :- successor(Y,X).")
    assert len(seen) == 2
