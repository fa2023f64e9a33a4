"""`andre learn`, run as a user runs it: the program on stdout, all else on stderr."""

import json
from pathlib import Path

import pytest

from andre.facts import TASKS
from andre.logic import parse_program, read_program
from andre.runs import load

FAST = ("--set", "restarts=2", "--set", "rounds=1", "--set", "subrules=1,2")
GRAND = parse_program("grand(X,Y) :- parent(X,Z), parent(Z,Y).")
TRIPLES = "".join(
    f"{a}\t{r}\t{b}\n"
    for a, r, b in [
        *(("p" + str(n), "next", "p" + str(n + 1)) for n in range(8)),
        *(("p" + str(n + 1), "back", "p" + str(n)) for n in range(8)),
        ("p0", "odd", "p5"),
    ]
)
PREDECESSOR = "predecessor(X1, X2) :- successor(X2, X1)."


@pytest.fixture
def andre(andre, runs, monkeypatch, tmp_path):
    """Run the command line in a folder with facts."""
    monkeypatch.chdir(tmp_path)
    Path("family.pl").write_text(runs.family.read_text())
    Path("graph.tsv").write_text(TRIPLES)
    return andre


def test_the_program_is_on_stdout_and_all_else_on_stderr(andre):
    status, out, err = andre("learn", "family.pl", "--target", "grand/2", *FAST)
    assert status == 0
    assert parse_program(out) == GRAND
    assert out.startswith("% train: N_b=8, N_r=8, N_r/N_b=1.0000\n")
    assert "define mode, exists, 3 variables" in err
    assert "grand/2" in err
    assert andre("learn", "family.pl", "--target", "grand/2", "-q", *FAST)[1:] == (out, "")
    assert andre("learn", "family.pl", "grand/2", "-q", *FAST)[1:] == (out, "")


@pytest.mark.parametrize("name", ["predecessor", "even"])
def test_a_built_in_task_knows_its_target_and_variables(andre, name):
    status, out, err = andre("learn", name, "--set", "rounds=1")
    assert status == 0
    assert f"{TASKS[name].variables} variables" in err
    assert parse_program(out) == parse_program(TASKS[name].definition)


def test_the_same_seed_gives_the_same_program(andre):
    runs = [andre("learn", "predecessor", "--seed", "3", "-q", *FAST)[1] for _ in range(2)]
    assert runs[0] == runs[1]


def test_json_is_for_machines(andre):
    status, out, _ = andre("learn", "predecessor", "--json", "-q", *FAST)
    values = json.loads(out)
    assert status == 0
    assert PREDECESSOR in json.dumps(values)


def test_the_output_has_the_format_that_is_asked_for(andre):
    Path("out.json").write_text(andre("learn", "predecessor", "--to", "json", "-q", *FAST).out)
    assert read_program(Path("out.json")) == parse_program(PREDECESSOR)


def test_the_input_has_the_format_that_is_said(andre):
    Path("family.txt").write_text(Path("family.pl").read_text())
    words = ("learn", "family.txt", "--target", "grand/2", "-q", *FAST)
    assert parse_program(andre(*words, "--format", "prolog").out) == GRAND


@pytest.mark.parametrize("to", ["prolog", "problog", "anyburl", "json", "csv"])
def test_every_format_is_read_back(andre, runs, to):
    out = andre("show", runs.learn, "--to", to).out
    endings = {"prolog": "pl", "problog": "problog", "anyburl": "rules", "json": "json", "csv": "csv"}
    path = Path(f"out.{endings[to]}")
    path.write_text(out)
    assert read_program(path, to) == GRAND


def test_a_run_is_saved_shown_and_taken_up_again(andre):
    words = ("learn", "family.pl", "--target", "grand/2", "--out", "run", *FAST)
    first = andre(*words)
    (kept,) = Path("run").glob("targets/grand_2-*/run.json")
    before = kept.read_text()  # with the time that it took
    assert "saved in run" in first[2]
    assert andre(*words)[1] == first[1] == andre("show", "run")[1] == Path("run/program.pl").read_text()
    assert kept.read_text() == before
    Path("other.pl").write_text("parent(x,y). parent(y,z). grand(z,x).\n")
    status, out, _ = andre("predict", "run", "other.pl")
    assert (status, out) == (0, "grand(x, z).\n")  # no stated fact of a defined relation is read
    assert "parent(x, y)" in andre("explain", "run", "other.pl", "grand(x,z)")[1]
    assert "grand/2" in andre("eval", "run", "other.pl")[1]
    assert andre("report", "run")[1] == "run/report.html\n"


def test_a_run_that_was_cut_short_goes_on(andre):
    words = ("learn", "graph.tsv", "--target", "next/2", "--target", "back/2", "--out", "run", "-q", *FAST)
    whole = andre(*words)[1]
    Path("run/run.json").unlink()
    (lost,), (kept,) = (list(Path("run").glob(f"targets/{name}_2-*/run.json")) for name in ("back", "next"))
    lost.unlink()
    before = kept.read_text()
    assert andre(*words)[1] == whole
    assert kept.read_text() == before
    assert [definition.target for definition in load("run")] == ["next/2", "back/2"]


def test_all_relations_by_two_processes_are_those_of_one(andre):
    status, out, err = andre("learn", "graph.tsv", "--all", "--jobs", "2", "--out", "two", *FAST)
    assert status == 0
    assert "complete mode" in err
    assert "left out: odd/2 has only 1 fact to learn from: two are the least" in err
    assert parse_program(out) == parse_program(andre("learn", "graph.tsv", "--all", "-q", *FAST)[1])
    assert parse_program("next(X,Y) :- back(Y,X), X \\= Y.").rules[0] in parse_program(out)
    assert [definition.target for definition in load("two")] == ["next/2", "back/2"]


def test_a_time_limit_is_kept_and_said(andre):
    """Primes are not told by other remainders alone, and so many steps do not come to their end."""
    remainders = [f"{name}(x{i})." for i in range(40) for d, name in ((4, "fours"), (9, "nines")) if i % d]
    primes = [f"prime(x{i})." for i in range(2, 40) if all(i % d for d in range(2, i))]
    Path("primes.pl").write_text("\n".join(remainders + primes))
    some = ("--mode", "complete", "--variables", "1", "--set", "steps=1000000")
    status, _, err = andre("learn", "primes.pl", "--target", "prime/1", "--time-limit", "1", *some)
    assert status == 0
    assert "prime/1: " in err
    assert "cut short" in err
    assert "training" in err
    assert " 1 s" in err


def test_without_time_to_count_examples_there_is_nothing_to_learn_from(andre):
    status, out, err = andre("learn", "relatedness", "--time-limit", "1e-9")
    assert (status, out) == (2, "")
    assert (
        "the time limit of 1e-09 s passed before the examples of related/2 were counted: allow fewer" in err
    )


def test_nothing_found_is_said_with_a_reason(andre):
    names = [f"c{n}" for n in range(12)]
    facts = [f"h({names[n]}). p({names[(5 * n + 2) % 12]})." for n in range(0, 12, 3)]
    Path("noise.pl").write_text("\n".join([*facts, *(f"seen({name})." for name in names)]))
    status, out, err = andre("learn", "noise.pl", "--target", "h/1", "--variables", "1", *FAST)
    assert (status, out) == (0, "")
    assert "h/1: no rule, because " in err


def test_a_program_from_few_examples_is_given_as_weak_unless_strict(andre):
    Path("few.pl").write_text("h(a). h(b). p(a). p(b). q(b). seen(a). seen(b). seen(c). seen(d). q(c).")
    few = ("learn", "few.pl", "--target", "h/1", "--variables", "1", *FAST)
    status, out, err = andre(*few)
    assert status == 0
    assert "h(X1) :- p(X1)." in out
    assert "h/1: weak: 2 positive examples are too few to tell it from chance" in err
    status, out, err = andre(*few, "--strict")
    assert (status, out) == (0, "")
    assert "the nearest rule, 'h(X1) :- p(X1).', is right about 2 of the 2" in err
    assert "h(X1) :- p(X1)." in andre(*few, "--noise", "0")[1]
    assert "positives alone taught" in andre(*few, "--unlabelled", "unknown")[2]
    assert andre(*few, "--noise", "much")[0] == 2


def popper(folder: str, bias: str = "") -> None:
    Path(folder).mkdir()
    facts, examples = Path("family.pl").read_text().split("grand", 1)
    Path(folder, "bk.pl").write_text(facts)
    pairs = ("grand" + examples).replace(". grand", ".\ngrand").splitlines()
    denied = ["ann,dan", "bob,bob", "cy,ann", "eve,fay", "kim,ann", "dan,gus", "hal,ida", "joe,cy"]
    lines = [f"pos({atom.rstrip('.')})." for atom in pairs] + [f"neg(grand({pair}))." for pair in denied]
    Path(folder, "exs.pl").write_text("\n".join(lines))
    Path(folder, "bias.pl").write_text(bias or "head_pred(grand,2).\nbody_pred(parent,2).\nmax_vars(3).\n")


def test_the_bias_of_a_popper_folder_names_the_target(andre):
    popper("task")
    status, out, err = andre("learn", "task", *FAST)
    assert status == 0, err
    assert parse_program(out) == GRAND
    assert "3 variables" in err


@pytest.mark.parametrize(
    ("setting", "atoms"),
    [("exclude=grand", 6), ("exclude=parent(X2,X1),grand/2", 5), ("relations=parent/2", 6)],
)
def test_settings_of_bodies_are_lists_of_names(andre, setting, atoms):
    words = ("learn", "family.pl", "--target", "grand/2", "--set", setting, "--set", "inequality=false")
    assert andre(*words, "--out", "run", "-q", *FAST)[0] == 0
    assert load("run").definitions[0].result.space.m == atoms


@pytest.mark.parametrize("support", ["2", "1e3", "0.5"])
def test_the_least_support_is_a_setting(andre, support):
    words = (
        "learn",
        "family.pl",
        "--target",
        "grand/2",
        "--set",
        f"min_support={support}",
        "--set",
        "widen=false",
        "--set",
        "advise=false",
    )
    status, _, err = andre(*words, "--out", "run", *FAST)
    assert status == 0
    theory = load("run")
    assert theory.plan.config.selection.min_support == float(support)
    assert ("1000 are the least" in err) == (support == "1e3") == (not len(theory.program))


def test_a_language_file_says_what_bodies_may_hold(andre):
    Path("bodies.toml").write_text('target = "grand/2"\nrelations = ["parent/2"]\nmax_body = 2\n')
    assert parse_program(andre("learn", "family.pl", "--language", "bodies.toml", "-q", *FAST)[1]) == GRAND


MARKED = "p(a,b).\np(b,c).\np(c,a).\nq(a,b).#TEST\n"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("none.pl", "--target", "p/2"), "there is no file none.pl"),
        (("nonsense", "--target", "p/2"), "there is no file, task or dataset nonsense"),
        (
            ("family.pl",),
            "there is no target: name one behind the facts, or take --all; there are parent/2, grand/2",
        ),
        (("family.pl", "--target", "uncle/2"), "there is no relation uncle/2: choose from parent/2, grand/2"),
        (("family.pl", "--target", "grand/3"), "there is no relation grand/3: did you mean grand/2?"),
        (("family.pl", "--target", "Grnad"), "there is no relation Grnad: did you mean grand/2?"),
        (("marked.nl", "--target", "q/2"), "occurs only in test facts"),
        (("denied", "--target", "grand/2"), "it needs positive examples"),
        (("full.pl", "--target", "h/1", "--variables", "1"), "negative"),
        (("family.pl", "--target", "grand/2", "--variables", "1"), "set variables to at least 2"),
        (("tiny.pl", "--target", "h/1", "--variables", "3"), "constants"),
        (("bare.pl", "--target", "h/2", "--set", "recursion=false"), "leaves no candidate"),
        (("family.pl", "--target", "grand/2", "--memory-limit", "0.0000001"), "memory"),
        (("family.pl", "--target", "grand/2", "--memory-limit", "0.1KB"), "memory"),
        (
            ("family.pl", "--target", "grand/2", "--mode", "guess"),
            "mode is 'guess': choose define or complete",
        ),
        (
            ("family.pl", "--target", "grand/2", "--semantics", "all"),
            "semantics is 'all': choose rows or exists",
        ),
        (("family.pl", "--target", "grand/2", "--preset", "best"), "best"),
        (("family.pl", "--target", "grand/2", "--set", "restart=3"), "restart"),
        (("family.pl", "--target", "grand/2", "--to", "latex"), "there is no format 'latex'"),
        (("family.pl", "--target", "grand/2", "--out", "family.pl"), "family.pl"),
        (("family.pl", "--target", "grand/2", "--language", "none.toml"), "there is no file none.toml"),
        (("family.pl", "--target", "grand/2", "--time-limit", "-1"), "time_limit"),
    ],
)
def test_a_mistake_is_one_sentence_and_status_2(andre, words, says):
    Path("marked.nl").write_text(MARKED)
    Path("full.pl").write_text("h(a). h(b). p(a). p(b).")
    Path("tiny.pl").write_text("h(a). p(a). p(b).")
    Path("bare.pl").write_text("h(a,b). h(b,c).")
    popper("denied")
    examples = Path("denied", "exs.pl")
    examples.write_text(examples.read_text().replace("pos(", "neg("))
    before = set(Path().iterdir())
    status, out, err = andre("learn", *words, "-q", *FAST)
    assert (status, out) == (2, "")
    assert err.startswith("andre: ")
    assert says in err
    assert err.count("\n") == 1, err
    assert set(Path().iterdir()) == before


def test_all_relations_are_completed_whatever_they_were_read_from(tmp_path, andre):
    """Were they defined, each by the others, a prediction would have no fact to start from."""
    rows = [f"parent(p{i}, c{i}).\n" for i in range(9)] + [f"child(c{i}, p{i}).\n" for i in range(8)]
    (tmp_path / "family.pl").write_text("".join(rows))
    assert "complete mode" in andre("learn", "family.pl", "--all", "--out", "run", *FAST)[2]
    assert andre("predict", "run", "family.pl")[1] == "child(c8, p8).\n"
    assert "define mode" in andre("learn", "family.pl", "--all", "--mode", "define", *FAST)[2]


def test_what_becomes_of_marked_facts_is_said(andre):
    """They teach nothing, so that they are false examples: a reader of the counts must know."""
    Path("splits").mkdir()
    lines = TRIPLES.splitlines(keepends=True)
    Path("splits/train.txt").write_text("".join(lines[2:]))
    Path("splits/test.txt").write_text("".join(lines[:2]))
    said = "2 facts are marked valid or test of next/2: nothing is learned from them"
    words = ("learn", "splits", "--target", "next/2", *FAST)
    assert said in andre(*words).err
    assert "marked" not in andre(*words, "--world", "open").err
    assert "marked" not in andre("learn", "graph.tsv", "--target", "next/2", *FAST).err


def test_a_setting_that_is_an_option_may_be_set(andre):
    words = ("learn", "family.pl", "--target", "grand/2", *FAST, "--set")
    assert "2 variables" in andre(*words, "variables=2").err
    status, _, err = andre(*words, "calibrate=maybe")
    assert (status, err) == (2, "andre: the setting calibrate is 'maybe' and must be true or false\n")
