"""The notebook of the examples runs as it stands, and keeps no output of some other run."""

from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("sklearn")
pytest.importorskip("matplotlib")

NOTEBOOK = Path(__file__).parents[2] / "examples" / "notebook" / "first_steps.ipynb"


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """What each cell showed: all texts of its outputs, and figures by their kind."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    folder = tmp_path_factory.mktemp("notebook")
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
    assert (folder / "grandmother.html").is_file()
    return [
        [text for output in cell.outputs for text in texts(output)]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def texts(output):
    if "text" in output:
        return [output.text]
    return [kind if kind.startswith("image/") else str(text) for kind, text in output.data.items()]


def test_the_stored_notebook_has_no_outputs():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None


def test_it_learns_what_it_says(outputs):
    said = "\n".join(text for cell in outputs for text in cell)
    assert "X is a grandmother of Y if X is female, X is a parent of some Z and Z is a parent of Y." in said
    assert "grandmother(ann, emma) is derived" in said
    assert "grandmother(mia, olga)" in said
    assert "citizen_of(X, Y) :- lives_in(X, Z), town_in(Z, Y)" in said


def test_it_shows_tables_and_a_figure(outputs):
    shown = [text for cell in outputs for text in cell]
    assert sum(text.startswith("<table>") for text in shown) == 4
    assert shown.count("image/png") == 1
    home = next(text.split("lives in ")[1].split()[0] for text in shown if "person_7 lives in" in text)
    country = {"ghent": "belgium", "bruges": "belgium", "lyon": "france", "paris": "france"}[home]
    assert f"1. citizen_of(person_7, {country})" in "\n".join(shown)
