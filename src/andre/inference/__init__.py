"""Programs run over facts to their fixpoint, single rules evaluated on facts, and explanations.

- `run`, `engine`, `clingo_engine`, `duckdb_engine`, `model`: `infer` runs a whole program by an engine
- `bodies`: `BodyEvaluator` finds the head atoms that one rule derives in one step, by one of three methods:
  products of tables (`contraction`), products of sparse matrices, or joins of rows (`joins`)
- `coded`, `extensions`: their input: rules as integers, with the meaning of negation in a closed and in an
  open world, facts as rows of codes and as tables
- `truth_tables`: the same for many programs at once
- `prolog`: backgrounds that only SWI-Prolog can run (`tabling.pl`), tabled into plain facts
- `explain`: why an atom holds
"""

from andre.inference.bodies import BodyEvaluator, Covered, covered_heads
from andre.inference.coded import number_ranks
from andre.inference.contraction import Table
from andre.inference.engine import Engine, alternating_fixpoint
from andre.inference.explanations import Explainer, Explanation, Firing, explain
from andre.inference.groundings import FactIndex, Search
from andre.inference.model import Model
from andre.inference.prolog import Tabling, built_terms, find_swipl, tabled
from andre.inference.run import infer, materialise, missing_relations
from andre.inference.truth_tables import Body, Given, TruthTables

__all__ = [
    "Body",
    "BodyEvaluator",
    "Covered",
    "Engine",
    "Explainer",
    "Explanation",
    "FactIndex",
    "Firing",
    "Given",
    "Model",
    "Search",
    "Table",
    "Tabling",
    "TruthTables",
    "alternating_fixpoint",
    "built_terms",
    "covered_heads",
    "explain",
    "find_swipl",
    "infer",
    "materialise",
    "missing_relations",
    "number_ranks",
    "tabled",
]
