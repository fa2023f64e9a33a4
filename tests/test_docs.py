"""Every code block of the documentation runs, page by page, in order, in a folder of its own.

A block of `python` is a doctest, one of `bash` is run line by line, and a block with a
`title` is written to the file of that name. A block of another language right after one of
`bash` shows lines that its last command prints. A command with `&` at its end runs as long
as the page does. Indented commands need a server, so that only their options are looked at.
"""

import doctest
import io
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.typed import run_line

import andre

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if path.parent.name != "benchmarks")
RUN = {"python", "bash"}
SHOWN = {"prolog", "text", "csv", "toml", "json"}

_FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    language: str
    title: str | None
    code: str
    line: int


def blocks(path: Path) -> Iterator[Block]:
    text = path.read_text()
    for found in _FENCE.finditer(text):
        language, _, rest = found["info"].strip().partition(" ")
        title = re.search(r'title="([^"]+)"', rest)
        yield Block(language, title and title[1], found["code"], text.count("\n", 0, found.start("code")))


def run_python(block: Block, names: dict, page: Path) -> None:
    test = doctest.DocTestParser().get_doctest(block.code, names, page.name, str(page), block.line)
    assert test.examples, f"{page.name}:{block.line} has no example"
    test.globs = names  # the names of one block are known to the next
    said = io.StringIO()
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    found = doctest.DocTestRunner(optionflags=flags).run(test, out=said.write, clear_globs=False)
    assert not found.failed, said.getvalue()


@pytest.fixture
def background(monkeypatch):
    """Starts commands that run beside the page, and ends them with it."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    started = []

    def start(command: str) -> None:
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        started.append(subprocess.Popen(shlex.split(command), start_new_session=True, **quiet))

    yield start
    for process in reversed(started):
        assert process.poll() is None, f"{process.args} has ended by itself"
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(60)


def run_bash(block: Block, monkeypatch, background) -> str:
    """Run `andre` in this process, where torch is loaded already, and all else in a shell.

    Gives what the last command printed.
    """
    printed = ""
    if "<<" in block.code:
        script, _, rest = block.code.partition("\nandre ")
        subprocess.run(["bash", "-euo", "pipefail", "-c", script], check=True, timeout=60)
        lines = [f"andre {rest}"] if rest else []
    else:
        lines = block.code.splitlines()
    for line in filter(None, map(str.strip, lines)):
        if line.endswith(" &"):
            background(line.removesuffix(" &"))
        else:
            printed = run_line(line, monkeypatch)
    return printed


def test_there_are_pages():
    assert len(PAGES) > 15


def test_every_public_name_is_in_the_reference():
    pages = "".join(page.read_text() for page in (DOCS / "reference").glob("*.md"))
    assert set(andre.__all__) <= set(re.findall(r"^::: andre\.(?:\w+\.)?(\w+)$", pages, re.MULTILINE))


def test_every_link_to_a_section_finds_its_heading():
    toc = pytest.importorskip("markdown.extensions.toc")
    for page in DOCS.rglob("*.md"):
        for target, anchor in re.findall(r"\]\(([\w./-]+\.md)#([^)]+)\)", page.read_text()):
            headings = re.findall(r"^#+ (.+)$", (page.parent / target).read_text(), re.MULTILINE)
            assert anchor in {toc.slugify(heading, "-") for heading in headings}, f"{page.name}: {target}"


@pytest.mark.parametrize("page", PAGES, ids=[str(path.relative_to(DOCS)) for path in PAGES])
def test_the_blocks_of_a_page_run(page, tmp_path, monkeypatch, background):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    printed: str | None = None
    for block in blocks(page):
        before, printed = printed, None
        if block.title:
            Path(block.title).write_text(block.code)
        elif block.language == "python":
            run_python(block, names, page)
        elif block.language == "bash":
            printed = run_bash(block, monkeypatch, background)
        else:
            assert block.language in SHOWN, f"{page.name}:{block.line}: no language in {sorted(RUN | SHOWN)}"
            if before is not None:
                assert set(block.code.splitlines()) <= set(before.splitlines()), before


TYPED = [
    (page.name, line.strip())
    for page in PAGES
    for line in _FENCE.sub("", page.read_text()).splitlines()
    if line.startswith("    andre ")
]


@pytest.mark.parametrize(("page", "line"), TYPED, ids=[line for _, line in TYPED])
def test_an_indented_command_asks_a_server_and_has_no_slip(page, line, tmp_path, monkeypatch):
    pytest.importorskip("psycopg")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AssertionError, match=r"cannot be (reached|opened|read)|refused"):
        run_line(line.replace("@localhost/", "@localhost:1/"), monkeypatch)
