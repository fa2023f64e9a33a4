"""One contract for every format: what is written is read back equal, or refused with a sentence."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.facts.strategies import NUMBERS, ODD_NAMES, PLAIN_NAMES, RELATION_NAMES, bases

from andre.errors import DataError
from andre.facts import FEATURES, FORMATS, Bias, FactBase, Relation, read_facts, to_frames, write_facts
from andre.facts.formats.format import Format
from andre.logic import parse_program

WRITTEN = {name: item for name, item in FORMATS.items() if item.write is not None}
EVERY_FORMAT = pytest.mark.parametrize("chosen", WRITTEN.values(), ids=WRITTEN)
SLOW = settings(deadline=None, max_examples=30, suppress_health_check=list(HealthCheck))
RULES = parse_program("p(X, Y) :- q(X, Y), \\+ edge(Y, 'New York'), X \\= Y.\n0.5::q(X, Y) :- edge(Y, X).")


def there_and_back(base: FactBase, chosen: Format, **options: str) -> FactBase:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "facts" if chosen.folder else f"facts{(chosen.suffixes or ('',))[0]}")
        write_facts(base, path, chosen.name)
        assert [item.name for item in Path(folder).iterdir()] == [path.name]
        again = read_facts(path, **options)
        assert again.origin == chosen.name  # the format is recognised, so naming it changes nothing
        return again


def with_target(base: FactBase, chosen: Format) -> FactBase:
    """Say what a Popper folder must say: where the examples are."""
    if chosen.name != "popper":
        return base
    heads = tuple(key for key, relation in base.relations.items() if relation.negative is not None)
    return replace(base, bias=Bias(head=heads or (next(iter(base.relations)),)))


def refusal_of(base: FactBase, chosen: Format) -> str | None:
    with tempfile.TemporaryDirectory() as folder:
        try:
            write_facts(base, Path(folder, "facts"), chosen.name)
        except DataError as error:
            return str(error)
    return None


@EVERY_FORMAT
@given(data=st.data())
@SLOW
def test_all_that_a_format_claims_to_hold_comes_back(chosen: Format, data: st.DataObject) -> None:
    features = chosen.holds - {"mark"} if chosen.name == "nl" else chosen.holds
    base = data.draw(bases(features=features))
    base = with_target(base, chosen)
    for relation in base.relations.values():
        if (relation.codes[:, 0] == relation.codes[:, 1]).all() and chosen.name == "nl":
            return
    if "rules" in chosen.holds:
        base = base.with_rules(RULES if "probability" in chosen.holds else parse_program(str(RULES.rules[0])))
    assert there_and_back(base, chosen) == base


@EVERY_FORMAT
@given(
    base=bases(
        names=ODD_NAMES | PLAIN_NAMES,
        numbers=NUMBERS,
        relation_names=RELATION_NAMES,
        arities=st.integers(0, 3),
        features=frozenset(FEATURES),
    )
)
@SLOW
def test_odd_facts_come_back_or_are_refused(chosen: Format, base: FactBase) -> None:
    base = with_target(base.without(*set(base.features) - chosen.holds), chosen)
    if not len(base):
        return
    refused = refusal_of(base, chosen)
    if refused is None:
        assert there_and_back(base, chosen) == base
    else:
        assert refused.startswith(f"{chosen.title} cannot hold ")


@EVERY_FORMAT
@pytest.mark.parametrize("arity", [1, 2])
def test_unary_facts_and_those_with_two_equal_arguments_are_told_apart(chosen: Format, arity: int) -> None:
    """In `.nl` p(a,a) may mean p(a), and a triple has two ends: what would be read otherwise is refused."""
    own = Relation("own", np.repeat(np.arange(2)[:, None], arity, axis=1))
    base = FactBase.from_relations(["a", "b"], [own, Relation("edge", np.array([[0, 1]]))])
    base = with_target(base, chosen)
    refused = {"nl": 2, "tsv": 1, "tsv-splits": 1}.get(chosen.name)
    if arity == refused:
        assert refusal_of(base, chosen).startswith(f"{chosen.title} cannot hold own/{arity}")
    else:
        assert there_and_back(base, chosen) == base


@EVERY_FORMAT
@pytest.mark.parametrize("feature", FEATURES)
def test_what_a_format_cannot_hold_is_refused_by_name(chosen: Format, feature: str, tmp_path: Path) -> None:
    edge = Relation("edge", np.array([[0, 1], [1, 0]]))
    plain = FactBase.from_relations(["a", "b"], [edge])
    rich = {
        "probability": plain.with_relation(replace(edge, probability=np.array([0.5, 1]))),
        "mark": plain.with_relation(replace(edge, mark=np.array([0, 2]))),
        "negative": plain.with_relation(replace(edge, negative=np.array([True, False]))),
        "rules": plain.with_rules(parse_program("p(X) :- edge(X, Y).")),
        "bias": replace(plain, bias=Bias(head=(("edge", 2),), max_vars=3, types=(("edge", ("n", "n")),))),
    }[feature]
    assert rich.features == (feature,)
    if feature in chosen.holds:
        rich = with_target(rich, chosen) if feature != "bias" else rich
        assert there_and_back(rich, chosen) == rich
    else:
        with pytest.raises(DataError, match=r"cannot hold .* \(--drop "):
            write_facts(rich, tmp_path / "facts", chosen.name)
        assert not list(tmp_path.iterdir())
        target = with_target(rich.without(feature), chosen)
        assert there_and_back(target, chosen) == target


@EVERY_FORMAT
def test_an_open_world_is_said_when_reading(chosen: Format) -> None:
    base = with_target(
        FactBase.from_relations(["a", "b"], [Relation("p", np.array([[0, 1]]))], world="open"), chosen
    )
    assert there_and_back(base, chosen, world="open") == base


@EVERY_FORMAT
def test_an_empty_relation_and_an_empty_base_are_not_written(chosen: Format, tmp_path: Path) -> None:
    empty = FactBase.from_relations([], [Relation("p", np.empty((0, 2)))])
    for base in (empty, FactBase.from_relations([], [])):
        with pytest.raises(DataError, match="no facts"):
            write_facts(base, tmp_path / "facts", chosen.name)


@EVERY_FORMAT
def test_a_write_that_fails_leaves_what_was_there(
    chosen: Format, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = with_target(FactBase.from_relations(["a", "b"], [Relation("p", np.array([[0, 1]]))]), chosen)
    path = tmp_path / "facts"
    if chosen.folder:
        path.mkdir()
    else:
        path.write_text("before")

    def half(_: FactBase, target: Path) -> None:
        target.write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setitem(FORMATS, chosen.name, replace(chosen, write=half))
    with pytest.raises(DataError, match="No space left"):
        write_facts(base, path, chosen.name)
    assert [item.name for item in tmp_path.iterdir()] == ["facts"]
    assert chosen.folder or path.read_text() == "before"


@given(base=bases(names=ODD_NAMES, numbers=NUMBERS, features=frozenset({"probability", "mark", "negative"})))
@SLOW
def test_data_frames_hold_what_tables_hold(base: FactBase) -> None:
    if "" not in base.constants and len({relation.name for relation in base.relations.values()}) == len(
        base.relations
    ):
        assert read_facts(to_frames(base)) == base
