"""Datasets: found, downloaded from a local server, refused when damaged."""

from __future__ import annotations

import hashlib
import json
import socket
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import andre
import andre.facts.datasets as module
from andre.cli.app import app
from andre.errors import DataError
from andre.facts import read_facts, read_source
from andre.facts.datasets import DATASETS, SPLITS, Dataset, fetch, find, load, load_split

TEXT = "p(a,b).\np(b,c).#TEST\np(a,b).\n"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Path]:
    """The folder of a server on this machine that the datasets are downloaded from."""
    folder = tmp_path / "served"
    (folder / "toy/data").mkdir(parents=True)
    (folder / "toy/data/toy.nl").write_text(TEXT)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ANDRE_DATASETS_URL", f"http://127.0.0.1:{server.server_port}/")
            yield folder
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """An empty cache; and a dataset of our own, for tests that do not ask for the public ones."""
    cache = tmp_path / "cache"
    pooch = pytest.importorskip("pooch")
    monkeypatch.setattr(pooch, "os_cache", lambda project: cache / project)
    if "datasets" not in request.fixturenames:
        monkeypatch.delenv("ANDRE_DATA", raising=False)
        sha256 = hashlib.sha256(TEXT.encode()).hexdigest()
        toy = Dataset("toy", "A toy.", "toy/data/toy.nl", sha256, "it is odd")
        monkeypatch.setattr(module, "DATASETS", {"toy": toy})
    return cache / "andre/datasets"


def test_a_dataset_is_downloaded_once(served: Path, machine: Path) -> None:
    assert find("toy") is None
    assert fetch("toy") == machine / "toy.nl"
    (served / "toy/data/toy.nl").unlink()  # whoever asks the server again gets nothing
    assert find("toy") == machine / "toy.nl"
    facts = load("toy")
    assert facts == read_facts(machine / "toy.nl")
    assert list(facts.notes) == ["1 fact is stated more than once: each counts once", "toy: it is odd"]


def test_a_damaged_download_is_refused_and_removed(served: Path, machine: Path) -> None:
    (served / "toy/data/toy.nl").write_text("p(a,b).\n")
    with pytest.raises(
        DataError, match="is not the file of toy, its SHA-256 differs, and it was thrown away"
    ):
        load("toy")
    assert not list(machine.iterdir())


def test_a_damaged_file_in_the_cache_is_downloaded_again(served: Path, machine: Path) -> None:
    machine.mkdir(parents=True)
    (machine / "toy.nl").write_text("p(a,b).\n")
    assert find("toy") is None
    assert fetch("toy").read_text() == TEXT


def test_a_page_that_is_not_there(served: Path) -> None:
    (served / "toy/data/toy.nl").unlink()
    with pytest.raises(DataError, match=r"cannot be downloaded from http.*\(the server answered 404\)"):
        load("toy")


def test_without_network_there_is_one_sentence(monkeypatch: pytest.MonkeyPatch, machine: Path) -> None:
    with socket.socket() as closed:  # bound and not listening: nobody answers
        closed.bind(("127.0.0.1", 0))
        monkeypatch.setenv("ANDRE_DATASETS_URL", f"http://127.0.0.1:{closed.getsockname()[1]}")
        with pytest.raises(DataError) as caught:
            load("toy")
    assert "(no connection): try again later, or put the file as toy.nl into a folder" in str(caught.value)
    assert not list(machine.iterdir())


def test_a_cache_that_cannot_be_written(served: Path, machine: Path) -> None:
    machine.parent.mkdir(parents=True)
    machine.write_text("a file where the folder should be")
    with pytest.raises(DataError, match="cannot be downloaded"):
        load("toy")


def test_the_given_folder_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANDRE_DATA", str(tmp_path))
    (tmp_path / "toy.nl").write_text(TEXT)
    assert fetch("toy") == tmp_path / "toy.nl"
    (tmp_path / "toy.nl").write_text("p(a,b).\n")
    with pytest.raises(DataError, match=r"toy\.nl is not the public file of toy, its SHA-256 differs"):
        load("toy")


def test_downloading_is_an_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(DataError, match=r"downloading needs pooch: pip install 'andre\[data\]'"):
        load("toy")
    monkeypatch.setenv("ANDRE_DATA", str(tmp_path))
    (tmp_path / "toy.nl").write_text(TEXT)
    assert len(load("toy")) == 2  # what lies here needs no download


def test_the_list_downloads_nothing(served: Path, machine: Path) -> None:
    done = CliRunner().invoke(app, ["datasets"])
    assert done.stdout.splitlines()[1].split("\t")[:2] == ["toy", "not downloaded"]
    assert not machine.exists()
    done = CliRunner().invoke(app, ["datasets", "toy", "--json"])
    shown = json.loads(done.stdout)
    assert (shown["train"], shown["test"], shown["constants"]) == (1, 1, 3)
    assert shown["path"] == str(machine / "toy.nl")
    done = CliRunner().invoke(app, ["datasets"])
    assert done.stdout.splitlines()[1].split("\t") == ["toy", "1", "1", "1", "3", "A toy."]
    done = CliRunner().invoke(app, ["datasets", "toy"])
    assert f"path       {machine / 'toy.nl'}" in done.stdout
    assert "note: toy: it is odd" in done.stderr


def test_an_unknown_dataset() -> None:
    done = CliRunner().invoke(app, ["datasets", "wordnet"])
    assert str(done.exception) == "there is no dataset wordnet: choose from toy"


def test_addresses_are_pinned_to_a_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANDRE_DATASETS_URL", raising=False)
    commit = "85eb4cd7914d9117e6f7eee010f24c8fc8f28057"
    for dataset in DATASETS.values():
        assert dataset.url == f"https://raw.githubusercontent.com/gaokun12/DFORL/{commit}/{dataset.source}"
        assert len(bytes.fromhex(dataset.sha256)) == 32


@pytest.mark.parametrize("name", DATASETS)
def test_the_public_files_are_what_they_were(
    datasets: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANDRE_DATA", str(datasets))
    if not (datasets / f"{name}.nl").is_file():
        pytest.skip(f"{name}.nl is not in {datasets}")
    facts = andre.datasets.load(name)
    assert facts == read_source(name)
    marks = {
        mark: sum(r.count(mark) for r in facts.relations.values()) for mark in ("train", "valid", "test")
    }
    assert (len(facts.relations), *marks.values(), len(facts.constants)) == {
        "countries_s1": (2, 1109, 0, 24, 271),
        "countries_s2": (2, 1062, 0, 24, 271),
        "countries_s3": (2, 978, 0, 24, 271),
        "nations": (55, 1791, 0, 201, 14),
        "umls": (46, 5868, 0, 661, 135),
        "kinship": (25, 9612, 0, 1074, 104),
        "uw_cse": (15, 2673, 0, 0, 1209),
        "alzheimers_amine": (32, 980, 0, 0, 147),
        "wn18rr": (11, 89869, 0, 3134, 40943),
    }[name]
    note = DATASETS[name].note
    assert (note is None) == (not facts.notes.remarks)


@pytest.fixture
def triples(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The files of a split of our own, which is the only one that is known."""
    texts = {"train.txt": "a\tp\tb\nb\tp\tc\n", "valid.txt": "c\tp\td\n", "test.txt": "d\tp\te\n"}
    shas = tuple(hashlib.sha256(text.encode()).hexdigest() for text in texts.values())
    monkeypatch.setattr(module, "SPLITS", {"toy": shas})
    return texts


def _write(folder: Path, texts: dict[str, str]) -> None:
    folder.mkdir(parents=True)
    for name, text in texts.items():
        (folder / name).write_text(text)


def test_a_split_is_downloaded_once(served: Path, machine: Path, triples: dict[str, str]) -> None:
    _write(served / "data/toy", triples)
    facts = load_split("toy")
    assert [facts.relations["p", 2].count(mark) for mark in ("train", "valid", "test")] == [2, 1, 1]
    for name in triples:
        (served / "data/toy" / name).unlink()
    assert sorted(path.name for path in (machine / "toy").iterdir()) == sorted(triples)
    assert load_split("toy") == facts


def test_a_split_is_found_where_data_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, triples: dict[str, str]
) -> None:
    _write(tmp_path / "data/toy", triples)
    monkeypatch.setenv("ANDRE_DATA", str(tmp_path / "data"))
    assert load_split("toy").relations["p", 2].count("train") == 2
    (tmp_path / "data/toy/valid.txt").write_text("c\tp\ta\n")
    with pytest.raises(DataError, match=r"valid\.txt is not the public file of toy/valid"):
        load_split("toy")
    with pytest.raises(DataError, match="no split of other here: choose from toy"):
        load_split("other")


@pytest.mark.parametrize(
    ("name", "counts"), [("wn18rr", (86_835, 3_034, 3_134)), ("family", (23_483, 2_038, 2_835))]
)
def test_the_splits_that_others_measure_on(
    datasets: Path, monkeypatch: pytest.MonkeyPatch, name: str, counts: tuple[int, ...]
) -> None:
    if not (datasets / name).is_dir():
        pytest.skip(f"the split of {name} is not on this machine")
    monkeypatch.setenv("ANDRE_DATA", str(datasets))
    facts = load_split(name)
    assert set(SPLITS) == {"wn18rr", "family", "fb15k-237"}
    assert counts == tuple(
        sum(relation.count(mark) for relation in facts.relations.values())
        for mark in ("train", "valid", "test")
    )


def test_the_joined_file_of_wn18rr_is_its_official_split(
    datasets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not (datasets / "wn18rr").is_dir():
        pytest.skip("the split of wn18rr is not on this machine")
    monkeypatch.setenv("ANDRE_DATA", str(datasets))
    joined, split = load("wn18rr"), load_split("wn18rr")
    for key, relation in split.relations.items():
        other = joined.relations[key]
        assert other.count("train") == relation.count("train") + relation.count("valid")
        assert other.count("test") == relation.count("test")
