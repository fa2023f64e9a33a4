"""Public datasets, found on this machine or downloaded; and facts from a path or by name."""

from __future__ import annotations

import difflib
import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

from andre.errors import DataError
from andre.facts.base import FactBase, World
from andre.facts.files import read_facts
from andre.facts.formats.databases.addresses import is_address
from andre.facts.formats.databases.selection import Selection
from andre.facts.tasks import TASKS

# One commit of the DFORL repository, so that the files never change.
_COMMIT = "85eb4cd7914d9117e6f7eee010f24c8fc8f28057"
_URL = f"https://raw.githubusercontent.com/gaokun12/DFORL/{_COMMIT}"
# One commit of the RulE repository, which has the splits that others measure on as plain text.
_SPLITS_URL = "https://raw.githubusercontent.com/XiaojuanTang/RulE/dbd6dc922ecee83274eb2e668caf7c5a83bec23f"
_TIMEOUT = 60  # seconds without an answer
_NAMED = 5  # tasks and datasets that an error names


@dataclass(frozen=True)
class Dataset:
    """A public knowledge base: the address of its file, and its peculiarities."""

    name: str
    summary: str  #: one sentence
    source: str  #: the path of its file below the address of all files
    sha256: str
    note: str | None = None  #: what is odd about it, one sentence
    home: str = _URL  #: the address of all files

    @property
    def file(self) -> str:
        """The name of its file on this machine."""
        return f"{self.name}{Path(self.source).suffix}"

    @property
    def url(self) -> str:
        """The address of its file; `ANDRE_DATASETS_URL` names a mirror."""
        return f"{os.environ.get('ANDRE_DATASETS_URL', self.home).rstrip('/')}/{self.source}"


_JOINED = "its train facts hold PyKEEN's train and valid facts together: pykeen_split marks them apart"

#: The knowledge bases by name.
DATASETS: Mapping[str, Dataset] = MappingProxyType(
    {
        dataset.name: dataset
        for dataset in (
            Dataset(
                "countries_s1",
                "Countries, their neighbours and regions; the regions of 24 follow from their subregions.",
                "locatedIn_S1/data/locatedIn.nl",
                "eede0637f1b35c734ce4fbae2e8ed972ceecf168c86a746700e1d8637b986d25",
            ),
            Dataset(
                "countries_s2",
                "Countries, where the subregions of the 24 are not stated either: their neighbours tell.",
                "locatedIn_S2/data/locatedIn.nl",
                "66951e41e3bd36c3b51214589a2370ae090d62b9734318c49e8e7678f783e0f7",
            ),
            Dataset(
                "countries_s3",
                "Countries, where the regions of the neighbours of the 24 are not stated either.",
                "locatedIn_S3/data/locatedIn.nl",
                "5803eb10880c92e94a1d9df0ee2bf489568e5aceea6607411be626d27259cec0",
            ),
            Dataset(
                "nations",
                "Dealings between 14 nations, from treaties to expelled diplomats.",
                "nations/data/nations.nl",
                "f3c2a014cfab578e5fb274da83c2fdfa9091e7f0b4ebc05be3b0bdf71093815d",
                _JOINED,
            ),
            Dataset(
                "umls",
                "Relations between medical concepts, of the Unified Medical Language System.",
                "umls/data/umls.nl",
                "365df0d0b928da86609548a363b6fa96032d684fc3a7a9e8c09ecad6c285a44c",
                f"{_JOINED}, and co-occurs_with is spelled co_occurs_with",
            ),
            Dataset(
                "kinship",
                "Terms of kinship among the Alyawarra of Australia.",
                "kinship/data/kinship.nl",
                "55ad89d41c02fcc84449a1a17a97cf9eab2f34f7e74aebfa7499b0d696607bda",
                f"{_JOINED}, and the file lists every test fact twice",
            ),
            Dataset(
                "uw_cse",
                "People, courses and papers of a computer science department; who advises whom.",
                "UW-CSE/data/UW-CSE.nl",
                "716666e046d304f54971be5c5414af6630aa7b20294091908738a23500fd5433",
                "it has no test facts: hold some out",
            ),
            Dataset(
                "alzheimers_amine",
                "Variants of a drug against Alzheimer's disease; which of two inhibits amine reuptake more.",
                "alzheimers/data/great_ne.nl",
                "a85edb07ef66a0f1306e63e09d2522aed064aa5f228bbc8683ddb03fb86ee0a6",
                "its great_ne facts are the mirror of the original positives, arguments exchanged, "
                "and it has no test facts: hold some out",
            ),
            Dataset(
                "wn18rr",
                "WordNet's relations between word senses, without the inverse ones.",
                "wn18rr/data/wn18rr.nl",
                "2dd552e2b7415c8975b14280bf12219d80ecdb8c80b323589c4ea4eee6081743",
                "its train facts hold the original train and valid facts together (86,835 and 3,034), "
                "and 186 constants occur in test facts only",
            ),
        )
    }
)

#: Splits that others measure on, by name, and the SHA-256 of their train.txt, valid.txt and test.txt.
SPLITS: Mapping[str, tuple[str, str, str]] = MappingProxyType(
    {
        "wn18rr": (
            "038612e783c215ee5f3ca9fbfca27b8d0739be1028fe4ee7c174aecf0b83d5df",
            "453ce7202afa58094a04d2b1560ee2b02660f1c260b32ce6651c8ccedd1028ab",
            "0383bceaaa1096cf3c03ec021ed0048068e2355dbfc0239b292cefdac821cec5",
        ),
        "family": (
            "768bef275a5f4c30d29ee0180dba1bd8329e7f29a981edd49a4cf40b78e7e322",
            "b27c96db987d829aeb7ab8025d8b26cb469d9a8b9881fe84beeab96f9c9c7d30",
            "42cc9b400a3bfbd8908c81a14a073fe3e0c73e51b8ed05d2587255c11d257eb8",
        ),
        "fb15k-237": (
            "61099230e4439f90885ca9767739e31e8e32f54736fa1c35952b27997bc7c08a",
            "749cbe9d923bac7b9354da5614ecfed2e0220256d442c3e04a6b303db1f273d9",
            "e2e35e8e6113de220140b6f44dc71a5207b0fc6872d575e874aefe13259b655b",
        ),
    }
)


def load(name: str) -> FactBase:
    """Read one of `DATASETS`; its file is downloaded if it is not on this machine.

    Facts are marked train and test as in the file; notes say what is odd about it.

    Raises
    ------
    DataError
        If there is no such dataset, or its file cannot be had.

    Examples
    --------
    >>> load("nation")
    Traceback (most recent call last):
    ...
    andre.errors.DataError: there is no dataset nation: choose from countries_s1, ...
    """
    facts, note = read_facts(fetch(name), "nl"), DATASETS[name].note
    return facts if note is None else replace(facts, notes=replace(facts.notes, remarks=(f"{name}: {note}",)))


def load_split(name: str) -> FactBase:
    """Read one of `SPLITS`, with its train, valid and test facts; downloaded if it is not on this machine.

    wn18rr is the official split of Dettmers and others (86,835, 3,034 and 3,134
    facts), family the one of NeuralLP and DRUM (23,483, 2,038 and 2,835), and
    fb15k-237 the one of Toutanova and Chen (272,115, 17,535 and 20,466). On this
    machine they are folders of that name in `ANDRE_DATA`, with train.txt,
    valid.txt and test.txt.

    Examples
    --------
    >>> load_split("umls")
    Traceback (most recent call last):
    ...
    andre.errors.DataError: there is no split of umls here: choose from wn18rr, family, ...
    """
    if name not in SPLITS:
        raise DataError(
            f"there is no split of {name} here: choose from {', '.join(SPLITS)}, or pykeen_split's"
        )
    parts = [
        Dataset(f"{name}/{mark}", "", f"data/{name}/{mark}.txt", sha256, home=_SPLITS_URL)
        for mark, sha256 in zip(("train", "valid", "test"), SPLITS[name], strict=True)
    ]
    found = [_find(part) for part in parts]
    if len({path and path.parent for path in found}) > 1 or None in found:
        found = [_download(part) for part in parts]
    return read_facts(Path(str(found[0])).parent, "tsv-splits")


def find(name: str) -> Path | None:
    """The file of a dataset on this machine: in the folder `ANDRE_DATA`, else in the user's cache."""
    if name not in DATASETS:
        raise DataError(f"there is no dataset {name}: choose from {', '.join(DATASETS)}")
    return _find(DATASETS[name])


def _find(dataset: Dataset) -> Path | None:
    if given := os.environ.get("ANDRE_DATA"):
        path = Path(given, dataset.file)
        if path.is_file():
            if not _is_whole(path, dataset):
                raise DataError(
                    f"{path} is not the public file of {dataset.name}, its SHA-256 differs: "
                    "replace it, or take it out of ANDRE_DATA"
                )
            return path
    if (cache := _cache()) is None:
        return None
    path = cache / dataset.file
    return path if path.is_file() and _is_whole(path, dataset) else None


def fetch(name: str) -> Path:
    """The file of a dataset, downloaded into the user's cache if need be."""
    return find(name) or _download(DATASETS[name])


def _is_whole(path: Path, dataset: Dataset) -> bool:
    return hashlib.sha256(path.read_bytes()).hexdigest() == dataset.sha256


def _pooch() -> ModuleType | None:
    try:
        import pooch  # noqa: PLC0415  (an extra)
    except ImportError:
        return None
    return pooch  # type: ignore[no-any-return]


def _cache() -> Path | None:
    """The folder of downloaded files; None without pooch, which downloads them."""
    pooch = _pooch()
    return Path(pooch.os_cache("andre")) / "datasets" if pooch else None


def _download(dataset: Dataset) -> Path:
    remedy = f"or put the file as {dataset.file} into a folder and set ANDRE_DATA to it"
    pooch, cache = _pooch(), _cache()
    if pooch is None or cache is None:
        raise DataError(
            f"{dataset.name} is not on this machine, and downloading needs pooch: "
            f"pip install 'andre[data]', {remedy}"
        )
    try:
        got = pooch.retrieve(
            dataset.url,
            known_hash=f"sha256:{dataset.sha256}",
            fname=Path(dataset.file).name,
            path=(cache / dataset.file).parent,
            downloader=pooch.HTTPDownloader(timeout=_TIMEOUT),
        )
    except OSError as error:  # no network, no such page, no right to write
        reason = _reason(error)
        raise DataError(
            f"{dataset.name} cannot be downloaded from {dataset.url} ({reason}): try again later, {remedy}"
        ) from None
    except ValueError:  # pooch has removed what it got
        raise DataError(
            f"what was downloaded from {dataset.url} is not the file of {dataset.name}, its SHA-256 "
            f"differs, and it was thrown away: try again later, {remedy}"
        ) from None
    return Path(got)


def _reason(error: OSError) -> str:
    """The reason why a download failed, in a few words."""
    response = getattr(error, "response", None)
    if response is not None:
        return f"the server answered {response.status_code}"
    if type(error).__module__.startswith("requests"):
        return "no connection"
    return error.strerror or str(error)


def read_source(
    source: str | Path,
    format: str | None = None,
    world: World = "closed",
    selection: Selection | None = None,
) -> FactBase:
    """Read facts from a path, the address of a database, a built-in task or a public dataset.

    A path that exists wins over a name that is known.

    Parameters
    ----------
    source
        A file, folder or database of facts, or the name of a task (its training facts) or
        of a dataset (downloaded if need be).
    format
        The name of the format, where a path and its content do not show it.
    world
        Whether what is neither stated nor denied is false ("closed") or
        unknown ("open").
    selection
        What of a database is read; all of it by default.

    Examples
    --------
    >>> read_source("grandparent")
    FactBase(254 facts, 3 relations, 63 constants)
    >>> read_source("grandpa")
    Traceback (most recent call last):
    ...
    andre.errors.DataError: there is no file, task or dataset grandpa: ...
    """
    facts = _read_source(source, format, selection or Selection())
    return facts if world == "closed" else replace(facts, world=world)


def as_facts(given: Any) -> FactBase:
    """Facts as they are, or read from whatever `read_source` or `read_facts` takes.

    Examples
    --------
    >>> as_facts(["parent(ann, bob)"]), as_facts("even")
    (FactBase(1 facts, 1 relations, 2 constants), FactBase(98 facts, 3 relations, 65 constants))
    """
    if isinstance(given, FactBase):
        return given
    return read_source(given) if isinstance(given, Path | str) else read_facts(given)


def _read_source(source: str | Path, format: str | None, selection: Selection) -> FactBase:
    name = str(source)
    if is_address(name) or Path(source).exists() or format is not None:
        return read_facts(source, format, selection=selection)
    if selection and (name in TASKS or name in DATASETS):
        raise DataError(f"tables and columns are chosen from a database, and {name} is none")
    if name in TASKS:
        return TASKS[name].train()
    if name in DATASETS:
        return load(name)
    if Path(name).suffix or os.sep in name:  # meant as a path: its reader says what is wrong
        return read_facts(source)
    close = difflib.get_close_matches(name, [*TASKS, *DATASETS], n=1)
    guess = f"; is {close[0]} meant?" if close else ""
    raise DataError(
        f"there is no file, task or dataset {name}: tasks are {', '.join(list(TASKS)[:_NAMED])} and others, "
        f"which andre tasks lists; datasets are {', '.join(list(DATASETS)[:_NAMED])} and others{guess}"
    )
