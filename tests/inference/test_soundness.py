"""Both engines agree with two oracles on random programs: a fixpoint by hand, and SWI-Prolog's tabling.

`ANDRE_PROGRAMS=10000 ./dev sweep tests/inference/test_soundness.py` draws so many.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.inference import oracle
from tests.inference.prolog_oracle import by_prolog
from tests.inference.strategies import base, crisp_facts, crisp_programs

from andre.errors import LogicError
from andre.inference import infer
from andre.logic import Atom, Program

BATCH = 20
PROGRAMS = int(os.environ.get("ANDRE_PROGRAMS", "2000"))

without_comparisons = crisp_programs.map(
    lambda program: Program(
        tuple(replace(rule, body=tuple(one for one in rule.body if not one.is_builtin)) for rule in program)
    )
)
cases = st.lists(st.tuples(without_comparisons, crisp_facts), min_size=BATCH, max_size=BATCH)


def check(drawn: list[tuple[Program, dict[Atom, float]]]) -> None:
    for (program, facts), (true, possible) in zip(drawn, by_prolog(drawn), strict=True):
        lower, upper = oracle.well_founded(program, facts)
        assert set(lower) == true, str(program)
        assert set(upper) == possible, str(program)
        for engine in ("clingo", "duckdb"):
            if true != possible:
                with pytest.raises(LogicError, match="is neither true nor false"):
                    infer(program, base(facts), engine=engine)
            else:
                model = infer(program, base(facts), engine=engine)
                known = {atom for key in model.facts.relations for atom in model.facts.atoms(*key)}
                assert known == true, str(program)


@pytest.mark.skipif(shutil.which("swipl") is None, reason="SWI-Prolog is not installed")
@settings(max_examples=1, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(cases)
def test_a_few_programs(drawn: list[tuple[Program, dict[Atom, float]]]) -> None:
    check(drawn)


@pytest.mark.sweep
@pytest.mark.skipif(shutil.which("swipl") is None, reason="SWI-Prolog is not installed")
@settings(max_examples=max(1, PROGRAMS // BATCH), suppress_health_check=list(HealthCheck))
@given(cases)
def test_random_programs(drawn: list[tuple[Program, dict[Atom, float]]]) -> None:
    check(drawn)
