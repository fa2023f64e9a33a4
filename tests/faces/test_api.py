"""The public names: each is there, lazily, for people, editors and type checkers alike."""

import ast
import importlib
import pydoc
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import andre

NAMES = {name for names in andre._ROOMS.values() for name in names}


def test_every_name_is_what_its_room_holds():
    for room, names in andre._ROOMS.items():
        module = importlib.import_module(room)
        for name in names:
            found = getattr(andre, name)
            assert found is module if room == f"andre.{name}" else found is getattr(module, name)
    assert len(NAMES) == sum(map(len, andre._ROOMS.values())) <= 25
    with pytest.raises(AttributeError, match="module 'andre' has no attribute 'nothing'"):
        _ = andre.nothing


def test_type_checkers_see_the_same_names():
    """What a checker reads are imports written `X as X`; `__all__` is worked out and says nothing to it."""
    tree = ast.parse(Path(andre.__file__).read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.asname: f"andre.{alias.name}" if node.module == "andre" else node.module
        for node in block.body
        for alias in node.names
        if alias.asname == alias.name
    }
    assert seen == {name: room for room, names in andre._ROOMS.items() for name in names}


def test_people_see_the_same_names():
    words = set(re.findall(r"\w+", andre.__doc__))
    assert words >= NAMES
    assert set(dir(andre)) >= NAMES
    assert set(andre.__all__) == NAMES - {"AndreClassifier"}, "which needs scikit-learn"
    shown = pydoc.render_doc(andre, renderer=pydoc.plaintext)
    assert all(name in shown for name in NAMES)


def test_importing_is_light_and_a_star_import_needs_no_scikit_learn():
    code = """
        import sys, andre
        dir(andre)
        heavy = {'torch', 'sklearn', 'numpy', 'pandas', 'duckdb', 'clingo', 'lark', 'pydantic'}
        print(sorted(heavy & set(sys.modules)))
        sys.modules['sklearn'] = None
        from andre import *
        print(datasets.__name__)
    """
    printed = subprocess.check_output([sys.executable, "-c", textwrap.dedent(code)], text=True)
    assert printed.split() == ["[]", "andre.datasets"]
