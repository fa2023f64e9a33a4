"""ANDRE learns first-order logic rules by gradient descent.

Learn:
    fit             rules that tell the rows of any table apart -> `RuleClassifier`; of truth values
                    (`Sample`) -> `Result`
    learn           rules that define or complete relations of a `FactBase` -> `Theory`
    complete        rules of all relations of a knowledge base, to rank what is missing -> `Completion`
    load            what `.save(path)` of any of these wrote, or `--out` on the command line

Read, write and run:
    read_facts      facts from files, folders, databases or DataFrames
    write_facts     the same the other way
    datasets        public knowledge bases by name: `andre.datasets.load("nations")`
    parse_program   rules from Prolog, ProbLog or AnyBURL text
    infer           all that a program derives from facts
    explain         why an atom is derived, or what is missing

Values:
    Atom, Rule, Program         logic; `print` shows Prolog
    FactBase, Sample            what is learned from: facts, or rows of truth values
    Language, Plan, Config      what rules may look like, how targets are learned, all settings of runs
    RuleClassifier, Result, Theory, Completion  what is learned
    AndreError                  anything that the user can mend, in a sentence

Inside other libraries:
    AndreClassifier   scikit-learn
    RuleLayer         torch

All else is imported from its room, such as `andre.census`, in the order in which data flows: `logic`,
`facts`, `inference`, `samples`, `census`, `evaluation`, `model`, `learning`, `completion`, `runs`, `report`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from andre.lazy import lazily

__version__ = "0.1.0"

# Rooms are loaded when one of their names is first used, so that `import andre` is instant.
_ROOMS = {
    "andre.api": ("complete", "fit", "learn", "load"),
    "andre.completion": ("Completion",),
    "andre.datasets": ("datasets",),
    "andre.errors": ("AndreError",),
    "andre.estimator": ("AndreClassifier",),
    "andre.facts": ("FactBase", "read_facts", "write_facts"),
    "andre.inference": ("infer",),
    "andre.inference.explain": ("explain",),
    "andre.learning": ("Config", "Plan", "Result", "RuleClassifier", "Theory"),
    "andre.logic": ("Atom", "Program", "Rule", "parse_program"),
    "andre.nn": ("RuleLayer",),
    "andre.samples": ("Language", "Sample"),
}

# Without the classifier: a star import must work where scikit-learn is not installed.
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
    from andre.inference import infer as infer
    from andre.inference.explain import explain as explain  # its module has the same name
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
