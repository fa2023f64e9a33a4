"""What people try first works, and what cannot work is told in a sentence."""

import sqlite3
from pathlib import Path

import networkx
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


def test_a_label_may_stand_in_second_place(tmp_path: Path) -> None:
    table = TABLE.assign(age=TABLE["size"] % 30)
    table["large"] = table["age"] > 14
    table.to_csv(tmp_path / "table.csv", index=False)
    rules = {"rules": "crisp", "settings": QUICK}
    models = [
        andre.fit(table, "large", **rules),
        andre.fit(str(tmp_path / "table.csv"), "large", **rules),
        andre.fit(table.drop(columns="large"), table["large"], **rules),
        andre.fit(table, label="large", **rules),
    ]
    assert len({str(model.program) for model in models}) == 1
    assert models[0].to_prolog().endswith("\nlarge(Row) :- age(Row, Age), Age > 14.5.\n")


def test_graphs_of_networkx_are_facts() -> None:
    graph = networkx.MultiDiGraph()
    graph.add_edge("ann", "bob", key="likes", weight=2.5)
    graph.add_edge("ann", "bob", relation="knows")
    graph.add_edge((1, 2), 3)
    graph.add_node("ann", age=9, member=True, place=(0.5, 0.5), nick="")
    graph.add_node("bob", member=False)
    facts = andre.read_facts(graph)
    assert {str(atom) for key in facts.relations for atom in facts.atoms(*key)} == {
        "likes(ann, bob)", "knows(ann, bob)", "edge('(1, 2)', 3)", "age(ann, 9)", "member(ann)"
    }  # fmt: skip
    assert list(facts.notes) == [
        "what edges say beside their relation is left out: weight",
        "values of nodes that are no text or number are left out: place",
    ]
    path = networkx.path_graph(12)
    theory = andre.learn({"edge": [*path.edges], "two": [(n, n + 2) for n in range(10)]}, "two/2", **QUICK)
    assert str(theory.program) == "two(X1, X2) :- edge(X1, X3), edge(X3, X2)."
    assert len(andre.read_facts(path)) == 2 * path.number_of_edges()


def test_a_theory_is_printed_as_its_rules(tmp_path: Path) -> None:
    theory = andre.learn(FAMILY, "grand/2", **QUICK)
    assert str(theory).endswith("\ngrand(X1, X2) :- parent(X1, X3), parent(X3, X2).")
    assert theory.to_prolog() == f"{theory}\n"
    assert theory.rules == theory.program.rules
    (tmp_path / "f.pl").write_text("p(a).")
    with pytest.raises(AndreError, match="the atom comes first"):
        theory.explain(str(tmp_path / "f.pl"), "grand(p0, p2)")


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
        (lambda: andre.fit(TABLE, andre.Config(), label="kind"), "a Config is no ClassifierConfig"),
        (lambda: andre.complete(FAMILY).rank("parent(p0, ?)", 0), "the limit of answers is 0"),
        (lambda: andre.FactBase.from_facts([andre.Atom("p", ("a",))]), "a is a str, no Constant"),
        (lambda: andre.learn(3, "p/1"), "facts cannot be read from an int"),
        (lambda: andre.read_facts(sqlite3.connect(":memory:")), "give the database by its path or address"),
        (lambda: andre.read_facts(networkx.Graph()), "the graph has no edges"),
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
