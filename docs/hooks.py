"""Draws the figures and writes the command reference while the site is built."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the figures of the concept pages, drawn anew by the code they explain."""
    from mkdocs.structure.files import File  # noqa: PLC0415

    from benchmarks.figures import draw_figures  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        for path in draw_figures(Path(folder)):
            files.append(File.generated(config, f"figures/{path.name}", content=path.read_bytes()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put the help of every command where its page asks for it."""
    return markdown.replace("<!-- commands -->", _commands()) if "<!-- commands -->" in markdown else markdown


def _commands() -> str:
    """Usage, options and examples of every command, as its own help tells them."""
    import typer  # noqa: PLC0415

    from andre.cli.app import app  # noqa: PLC0415

    root = typer.main.get_command(app)
    parts = []
    for name, command in sorted(root.commands.items()):
        parts.append(_command(f"andre {name}", command.load()))
    return "\n\n".join(parts)


def _command(name: str, command: object) -> str:
    """One command: its sentences, its options as a table, its examples."""
    lines = [f"## {name}", "", (command.help or "").replace("\b", ""), ""]
    rows = []
    for option in command.params:
        if option.name == "help":
            continue
        spelled = ", ".join(f"`{text}`" for text in option.opts)
        if option.param_type_name == "argument":
            spelled = f"`{option.metavar or option.name.upper()}`"
        rows.append(f"| {spelled} | {(option.help or '').replace('|', chr(92) + '|')} |")
    if rows:
        lines += ["| | |", "|---|---|", *rows, ""]
    if command.epilog:  # its first lines are a mark that keeps lines apart, and a heading
        lines += ["```text", *command.epilog.splitlines()[2:], "```"]
    return "\n".join(lines)
