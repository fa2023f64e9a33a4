"""The README says what happens."""

import doctest
from pathlib import Path


def test_the_examples_of_the_readme_run() -> None:
    found = doctest.testfile(
        str(Path(__file__).parents[1] / "README.md"), module_relative=False, optionflags=doctest.ELLIPSIS
    )
    assert found.attempted > 10
    assert not found.failed
