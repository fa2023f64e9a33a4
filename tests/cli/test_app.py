"""The application: help that teaches and starts at once, errors that are sentences."""

import os
import subprocess
import sys

import pytest
import typer

import andre
from andre.cli import app as application
from andre.cli.app import app, main
from andre.errors import AndreError

HEAVY = "{'torch', 'numpy', 'duckdb', 'pydantic', 'matplotlib', 'sklearn', 'rich'}"


def test_help_names_every_command_and_loads_nothing_heavy():
    script = (
        "import sys\n"
        "from andre.cli import main\n"
        "sys.argv = ['andre', '--help']\n"
        "try:\n    main()\n"
        "except SystemExit as end:\n    assert not end.code\n"
        f"heavy = {HEAVY} & sys.modules.keys()\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    for word in (*typer.main.get_command(app).commands, "Examples:", "andre fit birds.csv"):
        assert word in done.stdout


def test_the_list_of_commands_says_what_their_own_help_says():
    commands = typer.main.get_command(app).commands
    assert len(commands) == 17
    for late in commands.values():
        whole = late.load()
        assert whole.help.split("\n\n")[0].replace("\n", " ") == late.short_help
        assert whole.name == late.name


def test_the_same_option_is_declared_alike_everywhere():
    """`--format` is the input's, `--to` the output's; neither an option nor its help differs by command."""
    shown = {}
    for late in typer.main.get_command(app).commands.values():
        for option in late.load().params:
            for name in option.opts:
                if name in {"--format", "--to", "--json", "--quiet", "--jobs", "--seed", "--set", "--preset"}:
                    shown.setdefault(name, set()).add((option.help, option.metavar))
                if name in {"--memory-limit", "--time-limit", "--engine", "--mode", "--semantics"}:
                    shown.setdefault(name, set()).add((option.help, option.metavar))
                if name in {"--heads", "--world"}:
                    shown.setdefault(name, set()).add((option.help, option.metavar))
    assert len(shown) == 15
    assert {name: len(ways) for name, ways in shown.items()} == dict.fromkeys(shown, 1)


@pytest.mark.parametrize("command", ["fit", "learn", "rank", "demo"])
def test_every_command_that_learns_can_be_quiet(command):
    whole = typer.main.get_command(app).commands[command].load()
    assert any("--quiet" in option.opts for option in whole.params)


def test_version(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["andre", "--version"])
    with pytest.raises(SystemExit) as caught:
        main()
    assert not caught.value.code
    assert capsys.readouterr().out == f"andre {andre.__version__}\n"


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("andre rep", "report"),
        ("andre fit --val", "--validation"),
        ("andre learn x.pl --mem", "--memory-limit"),
    ],
)
def test_a_shell_completes_commands_and_options(words, wanted):
    asked = {"_ANDRE_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    script = (
        "import sys\nfrom andre.cli import main\nsys.argv = ['andre']\n"
        "try:\n    main()\n"
        f"finally:\n    heavy = {HEAVY} & sys.modules.keys()\n    assert not heavy, heavy\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **asked},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.split() == [wanted], done.stderr
    assert not done.stderr


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (AndreError("the cell\nis wrong"), "andre: the cell is wrong\n"),
        (FileNotFoundError(2, "No such file", "x.csv"), "andre: there is no file x.csv: check the path\n"),
        (IsADirectoryError(21, "Is a directory", "x"), "andre: x cannot be opened: Is a directory\n"),
        (PermissionError(13, "Permission denied", "x"), "andre: x cannot be opened: Permission denied\n"),
        (NotADirectoryError(20, "Not a directory", "x"), "andre: x cannot be opened: Not a directory\n"),
        (OSError(28, "No space left on device"), "andre: the system says: No space left on device\n"),
    ],
)
def test_what_a_user_can_mend_is_one_line_and_status_2(monkeypatch, capsys, error, says):
    def broken() -> None:
        raise error

    monkeypatch.setattr(application, "app", broken)
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    assert capsys.readouterr().err == says


def test_help_says_what_an_option_takes_in_words():
    """`--seed N`, not `<int range>`; `FACTS`, not `{FACTS} <str>`."""
    for late in typer.main.get_command(app).commands.values():
        text = late.load().get_help(typer.Context(late.load(), info_name=late.name))
        assert "<" not in text, text
        assert "{" not in text.splitlines()[0], text
