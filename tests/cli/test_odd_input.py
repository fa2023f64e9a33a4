"""Whatever is given, a command ends in a result or in one sentence."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from andre.logic import parse_program, write_program

FACTS = "p(a,b). p(b,c). h(a,c). h(b,a).\n"


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.pl").write_text(FACTS)
    Path("r.pl").write_text("h(X, Y) :- p(X, Y).\n")


@pytest.mark.parametrize(
    "text",
    [
        f"variables = {'9' * 5000}\n",
        f"variables = {'[' * 5000}{']' * 5000}\n",
        "types = {p = 3}\n",
        "types = {p = [1, 2]}\n",
        "relations = [1, 2]\n",
        "exclude = {a = 1}\n",
    ],
    ids=["digits", "depth", "number", "numbers", "names", "table"],
)
def test_a_language_file_of_wrong_types_is_refused(andre, text: str) -> None:
    Path("language.toml").write_text(text)
    done = andre("learn", "p.pl", "--target", "h/2", "--language", "language.toml")
    assert (done.status, done.err[:20]) == (2, "andre: language.toml")


@pytest.mark.parametrize("count", ["NaN", "Infinity", "-3", "9" * 400, "9" * 5000])
def test_counts_of_rules_are_numbers_of_examples(andre, count: str) -> None:
    write_program(parse_program("20\t10\t0.5\th(X,Y) <= p(X,Y)"), "rules.json")
    text = Path("rules.json").read_text()
    assert '"N_b": 20' in text
    Path("rules.json").write_text(text.replace('"N_b": 20', f'"N_b": {count}'))
    done = andre("predict", "rules.json", "p.pl")
    assert (done.status, done.err[:17]) == (2, "andre: rules.json")


@pytest.mark.parametrize("name", ["\\xd800\\", "\\0\\"])
def test_half_a_character_is_refused_in_nl(andre, name: str) -> None:
    Path("f.nl").write_text(f"p('{name}','b').\n")
    done = andre("facts", "f.nl")
    assert done.status == 2
    assert "line 1: the name" in done.err
    assert "has a NUL or half a character in it" in done.err


@pytest.mark.parametrize("size", ["inf", "nan", "-5GB", "1e400", "1e999TB", "4 apples"])
def test_what_is_no_size_is_refused(andre, size: str) -> None:
    done = andre("learn", "p.pl", "--target", "h/2", f"--memory-limit={size}")
    assert (done.status, done.err) == (
        2,
        f"andre: --memory-limit {size} is no size: give gigabytes as 4, or a unit as in 500MB\n",
    )


def test_a_head_of_many_arguments_keeps_to_the_time_limit(andre) -> None:
    rows = [", ".join(f"{letter}{n}" for n in range(110)) for letter in "cd"]
    Path("wide.pl").write_text(f"h({rows[0]}). h({rows[1]}). p(c0). q(d0). r(c0, d0).\n")
    done = andre("learn", "wide.pl", "--target", "h/110", "--time-limit", "1")
    assert done.status == 2
    assert "time limit" in done.err


def test_a_terminal_gets_no_escapes_from_names(andre) -> None:
    Path("f.pl").write_text("p(a).\n")
    done = andre("learn", "f.pl", "--target", "\x1b[31mred/1")
    assert done.status == 2
    assert "\x1b" not in done.err
    assert "\\x1b[31mred/1" in done.err


def run(*words: str, **options: object) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "andre", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **options)


@pytest.mark.parametrize("more", [[], ["--json"]], ids=["prolog", "json"])
def test_an_encoding_that_lacks_a_letter_gets_escapes(more: list[str]) -> None:
    Path("f.pl").write_text("p('→', b).\n")
    done = run("predict", "r.pl", "f.pl", *more, env={**os.environ, "PYTHONIOENCODING": "latin-1"})
    assert done.returncode == 0, done.stderr
    assert "\\u2192" in done.stdout


@pytest.mark.parametrize("more", ["", "--json"])
@pytest.mark.parametrize("reader", [">&-", "| head -1"])
def test_nobody_need_read_to_the_end(reader: str, more: str) -> None:
    Path("many.pl").write_text("\n".join(f"p(c{n}, c{n + 1})." for n in range(20_000)))
    script = f"set -o pipefail; {sys.executable} -m andre predict r.pl many.pl {more} {reader}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_file_names_need_not_be_utf_8(andre) -> None:
    name = os.fsdecode(b"caf\xe9.pl")
    Path(name).write_text(FACTS)
    assert andre("facts", name).status == 0
    missing = andre("facts", os.fsdecode(b"th\xe9.pl"))
    assert (missing.status, missing.out) == (2, "")


def test_tensors_that_are_no_file_are_refused(andre, runs, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(runs.fit, "run")
    (tensors,) = Path("run").glob("*.safetensors")
    tensors.unlink()
    os.mkfifo(tensors)
    done = andre("show", "run")
    assert (done.status, done.err[:33]) == (2, "andre: the run in run is damaged ")
    index = json.loads(Path("run/run.json").read_text())
    for path in ("/dev/zero", "../../../../../dev/zero", 7, None):
        Path("run/run.json").write_text(json.dumps({**index, "tensors": path}))
        assert andre("show", "run").status == 2


def test_facts_are_read_from_standard_input() -> None:
    command = [sys.executable, "-c", "from andre.cli import main; main()"]
    for words, out in ((["facts", "-"], "h/2\t2"), (["predict", "r.pl", "-"], "h(a, b).\nh(b, c).\n")):
        done = subprocess.run([*command, *words], input=FACTS, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert out in done.stdout


def test_what_is_typed_first_is_answered_by_what_to_type(andre) -> None:
    Path("t.csv").write_text("age,kind\n1,a\n2,b\n")
    for words, shown in (
        (["p.pl"], "p.pl is no command: andre facts p.pl shows what facts it holds"),
        (["learn", "t.csv", "kind"], "are learned by andre fit t.csv --label kind"),
        (["learn", "p.pl", "h/2", "--all"], "h/2 names a relation and --all means every one"),
    ):
        done = andre(*words)
        assert (done.status, done.err.count("\n")) == (2, 1)
        assert shown in done.err


@pytest.mark.parametrize(
    "words", [("predict", "r.pl", "p.pl"), ("eval", "r.pl", "p.pl"), ("explain", "r.pl", "p.pl", "h(a,b)")]
)
def test_quiet_leaves_the_result_alone(andre, words: tuple[str, ...]) -> None:
    loud, quiet = andre(*words), andre(*words, "--quiet")
    assert (loud.status, quiet.status, quiet.err) == (0, 0, "")
    assert loud.out == quiet.out


def test_long_output_is_whole_where_python_does_not_buffer_and_signals_interrupt() -> None:
    code = (
        "import signal, typer; from andre.cli.app import _prepare_output; _prepare_output()\n"
        "signal.signal(signal.SIGALRM, lambda *_: None)\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)\n"
        "typer.echo('x' * 20_000_000)\n"
        "signal.setitimer(signal.ITIMER_REAL, 0)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, env={**os.environ, "PYTHONUNBUFFERED": "1"}
    ) as process:
        assert process.stdout is not None
        time.sleep(0.5)  # the pipe is full then, and what is written waits
        assert len(process.stdout.read()) == 20_000_001
    assert process.returncode == 0


def test_json_has_no_numbers_that_json_lacks(capsys: pytest.CaptureFixture[str]) -> None:
    from andre.cli.printing import print_json

    print_json({"auc": float("nan"), "all": [1.5, (float("inf"), None)], "name": "é"})
    assert json.loads(capsys.readouterr().out, parse_constant=pytest.fail) == {
        "auc": None, "all": [1.5, [None, None]], "name": "é"
    }  # fmt: skip
