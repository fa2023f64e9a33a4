"""The application: help that teaches and starts at once, errors that are sentences."""

import os
import subprocess
import sys

import pytest

import andre
from andre.cli import app as application
from andre.cli.app import main
from andre.errors import AndreError


def test_help_names_every_command_and_loads_nothing_heavy():
    script = (
        "import sys\n"
        "from andre.cli import main\n"
        "sys.argv = ['andre', '--help']\n"
        "try:\n    main()\n"
        "except SystemExit as end:\n    assert not end.code\n"
        "heavy = {'torch', 'numpy', 'duckdb', 'pydantic', 'matplotlib', 'sklearn'} & sys.modules.keys()\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    for word in ("fit", "predict", "show", "demo", "bench", "Examples:", "andre fit birds.csv"):
        assert word in done.stdout


def test_version(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["andre", "--version"])
    with pytest.raises(SystemExit) as caught:
        main()
    assert not caught.value.code
    assert capsys.readouterr().out == f"andre {andre.__version__}\n"


@pytest.mark.parametrize(
    ("words", "wanted"),
    [("andre rep", "report"), ("andre fit --val", "--validation"), ("andre bench w", "wide")],
)
def test_a_shell_completes_commands_and_options(words, wanted):
    asked = {"_ANDRE_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    script = "import sys; from andre.cli import main; sys.argv = ['andre']; main()"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **asked},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.split() == [wanted], done.stderr


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
