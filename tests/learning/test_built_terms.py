"""Lists that only a background builds are no examples, and a run keeps the facts that its clauses need."""

from __future__ import annotations

import shutil
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from andre.facts import FactBase, read_facts
from andre.learning import learn
from andre.learning.judged_by import listed_labels, with_stated_world
from andre.learning.relational import definitions
from andre.logic import parse_atom
from andre.runs import load
from andre.samples import Language

needs_swipl = pytest.mark.skipif(shutil.which("swipl") is None, reason="SWI-Prolog is not installed")

LAST = """
head([H|_], H).
tail([_|T], T).
empty([]).
last([a], a).  last([a,b], b).  last([c,a,d], d).  last([d,e,f,a], a).  last([b,b,c], c).  last([e,d], d).
"""


@settings(max_examples=25)
@given(st.sets(st.text("ab", min_size=1, max_size=4), min_size=1, max_size=6))
def test_false_examples_are_all_other_atoms_over_what_is_stated(words):
    lists = {f"[{','.join(word)}]": word[-1] for word in words}
    given_ = FactBase.from_facts([parse_atom(f"last({text}, {end})") for text, end in lists.items()])
    built = [parse_atom(f"tail([{','.join(w)}], [{','.join(w[1:])}])") for w in words]
    facts = given_.merge(FactBase.from_facts(built))
    labelled = with_stated_world(facts, Language("last/2"), given_, seed=0)
    relation = labelled.relations["last", 2]
    every = {(text, end) for text in lists for end in lists.values() if lists[text] != end}
    if not every:  # all that is stated is true
        assert relation.negative is None
        return
    labels = listed_labels(labelled, Language("last/2"))
    stated = {tuple(row) for row in given_.relations["last", 2].codes.tolist()}
    if labels.domains is None:
        false = {tuple(row) for row in relation.codes[relation.column("negative")].tolist()}
    else:  # the closed world is one over stated terms anyway
        false = set(product(*(domain.tolist() for domain in labels.domains))) - stated
    names = {tuple(labelled.constants[code] for code in row) for row in false}
    assert names == every
    assert {tuple(row) for row in relation.codes[~relation.column("negative")].tolist()} == stated


def test_very_many_false_examples_are_drawn():
    given_ = FactBase.from_facts([parse_atom(f"p([{n},0], k{n})") for n in range(20)])
    tails = [*(f"tail([{n},0], [0])" for n in range(20)), "tail([0], [])"]
    facts = given_.merge(FactBase.from_facts(map(parse_atom, tails)))
    labelled = with_stated_world(facts, Language("p/2"), given_, seed=0, most=30).relations["p", 2]
    assert 15 < labelled.n_negative <= 30
    assert len(labelled) == labelled.n_negative + 20


@needs_swipl
def test_a_list_task_in_one_file_is_learned_over_its_own_lists(tmp_path):
    (tmp_path / "last.pl").write_text(LAST)
    facts = read_facts(tmp_path / "last.pl")
    theory = learn(facts, "last/2", seed=0, time_limit=60)
    made = theory["last/2"]
    assert made.flawless
    assert any("only the background builds" in note for note in made.notes)
    assert theory.evaluate(facts).overall.accuracy == 1


@needs_swipl
def test_where_nothing_that_is_stated_is_false_it_is_said_what_to_do(tmp_path):
    (tmp_path / "even.pl").write_text("tail([_|T], T).\nempty([]).\n even([]). even([a,b]). even([a,b,c,d]).")
    made = learn(read_facts(tmp_path / "even.pl"), "even/1", seed=0, time_limit=5, invent=0, widen=False)
    assert any("0.0::even(...)" in note for note in made["even"].notes)


@needs_swipl
def test_a_saved_run_keeps_the_facts_that_its_rules_need(tmp_path):
    (tmp_path / "last.pl").write_text(LAST)
    theory = learn(read_facts(tmp_path / "last.pl"), "last/2", seed=0, time_limit=60)
    theory.save(tmp_path / "run")
    (tmp_path / "other.pl").write_text("list([p,q,r]).")
    derived = load(tmp_path / "run").predict(read_facts(tmp_path / "other.pl"))
    assert {str(atom) for atom in derived} == {"last([r], r)", "last([q,r], r)", "last([p,q,r], r)"}
    # Other facts of the relation take their place.
    (tmp_path / "other.pl").write_text("list([p,q,r]). empty([r]).")
    derived = load(tmp_path / "run").predict(read_facts(tmp_path / "other.pl"))
    assert {str(atom) for atom in derived} == {"last([q,r], q)", "last([p,q,r], q)"}


def list_folder(folder, background, examples, bias):
    folder.mkdir()
    (folder / "bk.pl").write_text("head([H|_], H).\ntail([_|T], T).\nempty([]).\n" + background)
    (folder / "exs.pl").write_text("\n".join(examples))
    (folder / "bias.pl").write_text("enable_recursion.\nbody_pred(tail, 2).\nbody_pred(empty, 1).\n" + bias)
    return read_facts(folder)


LENGTHS = ["[]", "[7]", "[4,1]", "[1,7]", "[7,4,4]", "[2,9,1]", "[2,2,5,1]", "[1,9,8,5]", "[7,9,1,9,7]"]
LENGTH_BIAS = """
head_pred(len, 2).  body_pred(succ, 2).  body_pred(zero, 1).  max_vars(4).  max_body(3).
type(len, (list, int)).  type(tail, (list, list)).  type(empty, (list,)).  type(succ, (int, int)).
type(zero, (int,)).
direction(len, (in, out)).  direction(tail, (in, out)).  direction(empty, (in,)).  direction(succ, (in, out)).
direction(zero, (out,)).
"""


@needs_swipl
def test_positives_of_a_folder_are_all_that_is_true_of_its_lists_where_a_program_says_so(tmp_path):
    examples = [f"pos(len({text}, {text.count(',') + (text != '[]')}))." for text in LENGTHS]
    facts = list_folder(
        tmp_path / "len", "zero(0).\nsucc(A, B) :- integer(A), B is A + 1.", examples, LENGTH_BIAS
    )
    (made,) = learn(facts, seed=0, time_limit=60)
    assert {str(rule) for rule in made.program} == {
        "len(X1, X2) :- tail(X1, X3), len(X3, X4), succ(X4, X2).",
        "len(X1, X2) :- empty(X1), zero(X2).",
    }
    assert any("only the background builds" in note for note in made.notes)


@needs_swipl
def test_where_chains_of_goals_lead_to_a_program_no_runs_are_made(tmp_path, monkeypatch):
    twice = ["[3,1,3]", "[5,5]", "[2,8,1,8]", "[4,6,4,9]", "[7,1,2,7]", "[9,2,2]", "[1,6,5,6]", "[8,3,8]"]
    once = ["[3,1]", "[5]", "[2,8,1]", "[6,4,9]", "[1,2,7]", "[9,2]", "[1,6,5,4]", "[8,3,2]"]
    examples = [f"pos(dup({text}))." for text in twice] + [f"neg(dup({text}))." for text in once]
    member = "member(X, [X|_]).\nmember(X, [_|T]) :- member(X, T).\n"
    bias = "head_pred(dup, 1).  body_pred(head, 2).  body_pred(member, 2).  max_vars(4).  max_body(3).\n"
    facts = list_folder(tmp_path / "dup", member, examples, bias)

    def refuse(*given, **settings):
        raise AssertionError("runs were made")

    monkeypatch.setattr(definitions, "propose_bodies", refuse)
    (made,) = learn(facts, seed=0, time_limit=60)
    assert made.flawless
    assert any(rule.is_recursive for rule in made.program)
