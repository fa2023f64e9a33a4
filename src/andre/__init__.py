"""ANDRE learns first-order logic rules by gradient descent.

Learn:
    fit             rules that classify the rows of any table -> `RuleClassifier`; or rows of truth
                    values (`Sample`) -> `Result`
    learn           rules that define or complete relations of a `FactBase` -> `Theory`
    complete        rules for all relations of a knowledge base, which rank missing facts -> `Completion`
    load            a result saved by `.save(path)`, or by `--out` on the command line

Read, write and run:
    read_facts      facts from files, folders, databases or DataFrames
    write_facts     facts to a file or folder
    datasets        public knowledge bases by name: `andre.datasets.load("nations")`
    parse_program   rules from Prolog, ProbLog or AnyBURL text
    infer           everything that a program derives from facts
    explain         why an atom is derived, or what is missing for it

Values:
    Atom, Rule, Program         logic; `print` shows Prolog
    FactBase, Sample            the data to learn from: facts, or rows of truth values
    Language, Plan, Config      which rules are allowed, how targets are learned, the settings of runs
    RuleClassifier, Result, Theory, Completion  the results
    AndreError                  a mistake that the user can correct, with a message that says how

Inside other libraries:
    AndreClassifier   scikit-learn
    RuleLayer         torch

Everything else is imported from a subpackage such as `andre.census`; in the order of data flow these are
`logic`, `facts`, `inference`, `samples`, `census`, `evaluation`, `model`, `learning`, `completion`, `runs`
and `report`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from andre.lazy import lazily

__version__ = "0.1.0"

# Subpackages are imported when one of their names is first used, so that `import andre` is fast.
_ROOMS = {
    "andre.api": ("complete", "fit", "learn", "load"),
    "andre.completion": ("Completion",),
    "andre.datasets": ("datasets",),
    "andre.errors": ("AndreError",),
    "andre.estimator": ("AndreClassifier",),
    "andre.facts": ("FactBase", "read_facts", "write_facts"),
    "andre.inference": ("explain", "infer"),
    "andre.learning": ("Config", "Plan", "Result", "RuleClassifier", "Theory"),
    "andre.logic": ("Atom", "Program", "Rule", "parse_program"),
    "andre.nn": ("RuleLayer",),
    "andre.samples": ("Language", "Sample"),
}

# Without the classifier, since a star import must work without scikit-learn.
__all__ = [name for names in _ROOMS.values() for name in names if name != "AndreClassifier"]


if TYPE_CHECKING:  # the same names again, for type checkers and editors
    from andre import datasets as datasets
    from andre.api import complete as complete
    from andre.api import fit as fit
    from andre.api import learn as learn
    from andre.api import load as load
    from andre.completion import Completion as Completion
    from andre.errors import AndreError as AndreError
    from andre.estimator import AndreClassifier as AndreClassifier
    from andre.facts import FactBase as FactBase
    from andre.facts import read_facts as read_facts
    from andre.facts import write_facts as write_facts
    from andre.inference import explain as explain
    from andre.inference import infer as infer
    from andre.learning import Config as Config
    from andre.learning import Plan as Plan
    from andre.learning import Result as Result
    from andre.learning import RuleClassifier as RuleClassifier
    from andre.learning import Theory as Theory
    from andre.logic import Atom as Atom
    from andre.logic import Program as Program
    from andre.logic import Rule as Rule
    from andre.logic import parse_program as parse_program
    from andre.nn import RuleLayer as RuleLayer
    from andre.samples import Language as Language
    from andre.samples import Sample as Sample
else:
    __getattr__ = lazily(__name__, _ROOMS)

    def __dir__() -> list[str]:
        return sorted({"__version__", *__all__, "AndreClassifier"})
