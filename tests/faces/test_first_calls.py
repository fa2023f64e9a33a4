"""What people try first works, and what cannot work is told in a sentence."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import andre
from andre.errors import AndreError

FAMILY = [f"parent(p{n}, p{n + 1})" for n in range(12)] + [f"grand(p{n}, p{n + 2})" for n in range(11)]
TABLE = pd.DataFrame({"size": np.arange(60), "kind": ["x", "y"] * 30})
QUICK = {"restarts": 1, "rounds": 1, "steps": 40}


def test_every_public_name_is_listed_and_documented() -> None:
    for name in dir(andre):
        if not name.startswith("__"):
            assert getattr(andre, name).__doc__, name
            assert name in (andre.__doc__ or ""), f"help(andre) does not tell of {name}"


def test_facts_are_given_as_text() -> None:
    facts = andre.FactBase.from_facts(["parent(a,b)", "parent(b, c)."], negatives=["parent(c,a)"])
    assert facts.truth(andre.Atom.parse("parent(b,c)")) is True
    assert facts.truth(andre.Atom.parse("parent(c,a)")) is False


def test_facts_may_be_a_path_or_a_table(tmp_path: Path) -> None:
    (tmp_path / "family.pl").write_text("".join(f"{fact}.\n" for fact in FAMILY))
    atoms = [andre.Atom.parse(text) for text in FAMILY]
    cells = [(atom.predicate, *(str(arg) for arg in atom.args)) for atom in atoms]
    frame = pd.DataFrame(cells, columns=["relation", "head", "tail"])[["head", "relation", "tail"]]
    for given in (str(tmp_path / "family.pl"), tmp_path / "family.pl", frame):
        theory = andre.learn(given, "grand/2", mode="define", **QUICK)
        assert str(theory.program) == "grand(X1, X2) :- parent(X1, X3), parent(X3, X2)."
        assert [str(atom) for atom in theory.predict(given)] == FAMILY[12:]
        assert theory.evaluate(given).overall.accuracy == 1
        assert "is derived" in str(theory.explain("grand(p0, p2)", given))
    assert str(andre.learn(FAMILY, "grand/2", **QUICK).program) == str(theory.program)
    model = andre.infer("grand(X, Z) :- parent(X, Y), parent(Y, Z).", andre.FactBase.from_facts(FAMILY[:2]))
    assert [str(atom) for atom in model] == ["grand(p0, p2)"]
    why = andre.explain("h(X) :- parent(X, Y).", andre.FactBase.from_facts(FAMILY[:1]), "h(p0)")
    assert why.probability == 1
    assert "\n" not in repr(why) + repr(theory) + repr(theory.program) + repr(model)
    assert len(repr(theory.program)) < 100


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: andre.Atom.parse("parent(a,b"), "ends inside a clause"),
        (lambda: andre.FactBase.from_facts(["parent(a,b"]), r"the fact 'parent\(a,b': the text ends"),
        (lambda: andre.FactBase.from_facts("parent(a,b)"), r"give a list, as \['parent\(a,b\)'\]"),
        (lambda: andre.FactBase.from_facts([("parent", "a", "b")]), "is no fact: give an Atom"),
        (lambda: andre.fit(TABLE), "give label='...', one of size, kind"),
        (lambda: andre.fit(TABLE, "kind"), "give label='kind'"),
        (lambda: andre.fit(TABLE, TABLE["kind"]), "labels are given by name, as label=y"),
        (lambda: andre.complete(FAMILY).rank("parent(p0, ?)", 0), "the limit of answers is 0"),
        (lambda: andre.FactBase.from_facts([andre.Atom("p", ("a",))]), "a is a str, no Constant"),
        (lambda: andre.learn(3, "p/1"), "facts cannot be read from an int"),
        (lambda: andre.learn(andre.FactBase.from_facts(FAMILY), 5), "5 is no target: give the name"),
        (lambda: andre.infer("h(X) :- p(X).", ["p(a)"]), "a list is no FactBase"),
        (lambda: andre.infer(5, andre.FactBase.from_facts(FAMILY)), "an int is no program"),
        (lambda: andre.parse_program(["h(X) :- p(X)."]), "a list is no text: give rules and atoms as Prolog"),
        (lambda: andre.Atom.parse(5), "an int is no text"),
        (lambda: andre.load(5), "an int is no path"),
        (lambda: andre.complete(5), "facts cannot be read from an int"),
        (lambda: andre.complete("nowhere"), "there is no file, task or dataset nowhere"),
        (lambda: andre.complete(andre.FactBase.from_facts(FAMILY), "x"), "a str is no CompletionConfig"),
        (lambda: andre.complete(andre.FactBase.from_facts(FAMILY)).rank(5), "an int is no question"),
    ],
)
def test_what_cannot_work_is_told_in_a_sentence(call, says: str) -> None:
    with pytest.raises(AndreError, match=says):
        call()
