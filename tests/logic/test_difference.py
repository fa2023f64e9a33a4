"""Differences account for every rule once, and merging changes nothing that a program says."""

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.inference.oracle import well_founded
from tests.inference.strategies import crisp_facts, probable_facts, probable_programs
from tests.inference.strategies import crisp_programs as crisp
from tests.logic.strategies import programs

from andre.logic import Atom, Program, difference, merge_programs, parse_program, subsumes


@st.composite
def edited(draw: st.DrawFn, start: st.SearchStrategy[Program]) -> tuple[Program, Program]:
    """A program, and another one that has some of its rules, some shortened."""
    old = draw(start)
    kept = []
    for rule in old:
        what = draw(st.sampled_from(["keep", "drop", "shorten", "recount"]))
        if what == "shorten":
            kept.append(type(rule)(rule.head, rule.body[:-1], rule.evidence, rule.probability))
        elif what == "recount":
            kept.append(rule.with_evidence())
        elif what == "keep":
            kept.append(rule)
    return old, Program((*kept, *draw(start)))


@given(edited(programs))
def test_every_rule_is_told_of_once(pair: tuple[Program, Program]) -> None:
    old, new = pair
    found = difference(old, new)
    kept = [*found.rescored, *zip(found.same, found.same, strict=True)]
    before = [*found.lost, *(one for one, _ in found.reworked), *(one for one, _ in kept)]
    after = [*found.gained, *(two for _, two in found.reworked), *(two for _, two in kept)]
    for shown, program in ((before, old), (after, new)):
        assert len(shown) == len(set(shown))
        assert set(shown) == set(program)
    assert not set(found.lost) & set(new)
    assert not set(found.gained) & set(old)
    assert found.is_empty == (set(old) == set(new))


@given(edited(programs))
def test_reworked_rules_differ_by_literals_and_kept_ones_by_evidence(pair: tuple[Program, Program]) -> None:
    found = difference(*pair)
    for one, two in found.reworked:
        assert one != two
        assert subsumes(one, two) or subsumes(two, one)
    for one, two in found.rescored:
        assert one == two
        assert one.evidence != two.evidence


@given(programs)
def test_a_program_does_not_differ_from_itself(program: Program) -> None:
    found = difference(program, program)
    assert found.is_empty
    assert not found.rescored
    assert difference(Program(), program).gained == tuple(dict.fromkeys(program))
    assert difference(program, Program()).lost == tuple(dict.fromkeys(program))


@given(st.lists(programs, max_size=3))
def test_merged_rules_are_given_ones_and_none_makes_another_needless(given_: list[Program]) -> None:
    every = list(dict.fromkeys(rule for program in given_ for rule in program))
    assert list(merge_programs(given_, subsumed=True)) == every
    merged = merge_programs(given_)
    assert merge_programs([merged, merged]).rules == merged.rules
    for rule in every:
        assert any(subsumes(kept, rule) and kept.probability >= rule.probability for kept in merged)
    for rule in merged:
        assert rule in every
        others = [kept for kept in merged if kept != rule and kept.probability >= rule.probability]
        assert not any(subsumes(kept, rule) for kept in others)


@settings(max_examples=60)
@given(crisp, crisp, crisp_facts)
def test_a_merged_program_has_the_model_of_all_rules(
    one: Program, two: Program, facts: dict[Atom, float]
) -> None:
    every = Program((*one, *two))
    assert well_founded(merge_programs([one, two]), facts) == well_founded(every, facts)


@settings(max_examples=60)
@given(probable_programs, probable_programs, probable_facts)
def test_so_it_has_with_probabilities(one: Program, two: Program, facts: dict[Atom, float]) -> None:
    every = Program((*one, *two))
    assert well_founded(merge_programs([one, two]), facts) == well_founded(every, facts)


def test_of_equal_rules_the_likelier_stays() -> None:
    merged = merge_programs([parse_program("0.3::h(X) :- p(X)."), parse_program("0.9::h(Y) :- p(Y).")])
    assert str(merged) == "0.9::h(Y) :- p(Y)."
