"""A plan: all that decides what `learn` looks for and how, with the rules that are known beforehand."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from itertools import combinations
from pathlib import Path
from typing import Any, get_args

import numpy as np

from andre.census import Mode, Semantics
from andre.errors import ConfigError, LogicError, check_choice
from andre.facts import FactBase, Key, key_text
from andre.learning.config import Config, Unlabelled, unknown_setting
from andre.logic import Atom, Literal, Program, Rule
from andre.samples import Codes, Language, RuleSpace, check_setting

#: Formats in which knowledge bases come, to be completed rather than defined.
_KNOWLEDGE_BASES = frozenset({"nl", "tsv", "tsv-splits"})
#: How preset `paper` chooses rules from facts that state their target wholly: all that any run came to and
#: that are as good as never wrong. Of all readings most of the paper's classical tasks come out under this.
_PAPER_TASKS: dict[str, Any] = {"criterion": "soundness", "min_confidence": 0.999}


@dataclass(frozen=True)
class Plan:
    """How targets are learned; `Plan.of` makes one.

    Examples
    --------
    >>> from andre.facts.tasks import TASKS
    >>> plan = Plan.of(TASKS["even"].train(), "even/1", variables=2, seed=3)
    >>> plan.mode, plan.semantics, plan.language.variables, plan.config.seed
    ('define', 'exists', 2, 3)
    """

    language: Language  #: its target is replaced by each one that is learned
    config: Config
    mode: Mode  #: `define` from the background alone, or `complete` what is known
    semantics: Semantics  #: what an example is: a grounding (rows) or a head atom (exists)
    identity: bool  #: whether all variables of a rule stand for different constants
    memory_limit: int = 4 << 30  #: bytes that the census may take
    #: Head atoms that are drawn to stand for all; None draws only where the census outgrows its memory.
    heads: int | None = None
    #: Head atoms that are drawn there.
    fallback_heads: int = 50_000
    #: Most cells of a truth table on which programs are judged at their fixpoint; beyond, they are by joins.
    table_cells: int = 1 << 22
    known: Program = field(default=Program())  #: rules that stay as they are, to be added to
    short_bodies: bool = True  #: whether all bodies of one or two literals are pooled with those of the runs
    #: Whether stated probabilities are read as evidence whose weight is learned from all of them.
    calibrate: bool = True
    #: What head atoms are that no example labels: "false", as in a closed world, or "unknown", so that only
    #: what is stated to be true or false teaches, and where nothing is stated to be false, positives alone.
    #: "auto" takes them for false unless denied facts stand beside them, and in a Popper folder without
    #: negative examples for unknown where no program derives the positives alone.
    unlabelled: Unlabelled = "auto"
    #: Predicates that may be invented for a target, at the most. None: two where the bias enables it, and
    #: without a bias where few examples have no program that agrees with all, or a weak one that is long.
    invent: int | None = None
    #: Whether runs are made even where search alone finds a program that agrees with all examples.
    always_run: bool = False
    #: Whether rules of more variables, and with constants, are tried where those of a few explain nothing.
    widen: bool = False
    #: Whether other settings are tried for a few seconds where no rule is found, to tell which would help.
    advise: bool = True

    def __post_init__(self) -> None:
        for name, (kind, wanted) in _KINDS.items():
            value = getattr(self, name)
            if not (name in {"heads", "invent"} and value is None):
                check_setting(name, value, kind, wanted)
        if self.invent is not None and self.invent < 0:
            raise ConfigError(f"{self.invent} predicates cannot be invented: set invent to 0 or more")

    def with_max_rules(self, most: int) -> Plan:
        """The plan for programs of so many rules at the most."""
        selection = self.config.selection.model_copy(update={"max_rules": most})
        return replace(self, config=self.config.model_copy(update={"selection": selection}))

    @classmethod
    def of(
        cls,
        facts: FactBase,
        target: str | None = None,
        *,
        preset: str = "default",
        language: Language | Path | str | None = None,
        **options: Any,
    ) -> Plan:
        """A plan made from a preset and single options.

        Parameters
        ----------
        facts
            What is learned from. Facts read from triples or `.nl` are a knowledge
            base to complete; any others state the target wholly.
        target
            The first target; a language or a bias may name it instead.
        preset
            `default` works best; `paper` follows the paper: rows, its language,
            its settings. It knows no modes: every grounding is an example, the target's
            facts are read and may be denied, and variables may stand for one constant.
            From a knowledge base it takes the most accurate program of one run, from
            any other facts all rules of all runs that are as good as never wrong.
        language
            A language, or a TOML file that holds one. By default that of the
            bias that came with the facts, else that of the preset.
        options
            Fields of this class, of `Language` and settings of `Config` by name.
        """
        own, about_language = (
            {name: value for name in names & options.keys() if (value := options.pop(name)) is not None}
            for names in (_OWN, _LANGUAGE)
        )
        if target is not None:
            about_language["target"] = target
        mode: Mode = own.pop("mode", "complete" if facts.origin in _KNOWLEDGE_BASES else "define")
        semantics: Semantics = own.pop("semantics", "rows" if preset == "paper" else "exists")
        unlabelled: Unlabelled = own.pop("unlabelled", "auto")
        check_choice("mode", mode, get_args(Mode))
        check_choice("semantics", semantics, get_args(Semantics))
        check_choice("unlabelled", unlabelled, get_args(Unlabelled))
        if unlabelled == "unknown" and (mode, semantics) != ("define", "exists"):
            raise ConfigError(
                "positives alone teach in mode 'define' and semantics 'exists' only: leave unlabelled out"
            )
        identity = own.pop("identity", semantics == "exists" and mode == "complete")
        if identity and (mode, semantics) == ("define", "exists"):
            raise ConfigError(
                "identity has no meaning for a definition, whose rules say themselves which variables "
                "differ: leave it out, or use mode 'complete'"
            )
        if own.get("heads") is not None and (mode, semantics) != ("complete", "exists"):
            raise ConfigError(
                "head atoms are drawn in mode 'complete' and semantics 'exists' only: leave heads out"
            )
        if preset == "paper":
            own.setdefault("invent", 0)
            own.setdefault("short_bodies", False)
            own.setdefault("calibrate", False)
            if semantics == "rows" and facts.origin not in _KNOWLEDGE_BASES and "criterion" not in options:
                options = _PAPER_TASKS | options
        if unknown := options.keys() - Config.names():
            raise unknown_setting(min(unknown), Config.names() | _LANGUAGE | _OWN - {"known"})
        made = Language.of(facts, language, preset, **about_language)
        config = Config.preset(preset, **options)
        if facts.bias is None and language is None and preset == "default":
            own.setdefault("widen", mode == "define" and "variables" not in about_language)
        return cls(made, config, mode, semantics, identity, unlabelled=unlabelled, **own)

    def aim(self, target: str) -> Language:
        """The language with another target."""
        return replace(self.language, target=target)


#: What each field must be, and how a refusal says it.
_KINDS: dict[str, tuple[type, str]] = {
    **dict.fromkeys(
        ("identity", "short_bodies", "calibrate", "always_run", "widen", "advise"), (bool, "true or false")
    ),
    **dict.fromkeys(("heads", "fallback_heads", "table_cells", "invent"), (int, "a whole number")),
    "memory_limit": (int, "a whole number of bytes"),
    "known": (Program, "a program"),
}
_LANGUAGE = {field.name for field in fields(Language)} - {"target"}
_OWN = {field.name for field in fields(Plan)} - {"language", "config"}


def learnable(facts: FactBase) -> tuple[list[str], list[str]]:
    """The relations that can be learned, and why each of the others cannot.

    Examples
    --------
    >>> from andre.logic import parse_atom
    >>> facts = FactBase.from_facts(map(parse_atom, ["p(a,b)", "p(b,c)", "q(a,c)"]))
    >>> learnable(facts)
    (['p/2'], ['q/2 has only 1 fact to learn from: two are the least'])
    """
    good, bad = [], []
    for key, relation in facts.relations.items():
        count = int((relation.marked("train") & ~relation.impossible).sum())
        if not relation.arity:
            bad.append(f"{key_text(key)} has no arguments")
        elif not relation.marked("train").any():
            bad.append(f"{key_text(key)} occurs only in test or validation facts")
        elif not count:
            bad.append(f"all training facts of {key_text(key)} are denied")
        elif count < 2:
            bad.append(f"{key_text(key)} has only 1 fact to learn from: two are the least")
        else:
            good.append(key_text(key))
    return good, bad


def known_about(known: Program, target: Key) -> Program:
    """The known rules of one target."""
    return Program(tuple(rule for rule in known if rule.head.key == target))


def with_background(facts: FactBase, known: Program, targets: set[Key]) -> FactBase:
    """Facts with the known rules of other relations as background."""
    others = tuple(rule for rule in known if rule.head.key not in targets)
    return facts if not others else facts.with_rules(Program((*facts.rules, *others)))


def encode_known(known: Program, space: RuleSpace, *, identity: bool) -> Codes:
    """Known rules as bodies of a space, [rules, m].

    Parameters
    ----------
    identity
        Whether all variables are different anyway, so that `\\=` between them says nothing.

    Raises
    ------
    ConfigError
        Where a rule holds what is no candidate.

    Examples
    --------
    >>> from andre.logic import parse_program
    >>> space = RuleSpace.from_names(["p(X1,X3)", "p(X3,X2)"], "h(X1,X2)")
    >>> encode_known(parse_program("h(A,B) :- p(A,C), p(C,B), A \\\\= B."), space, identity=True)
    array([[1, 1]], dtype=int8)
    """
    found = [np.zeros((0, space.m), dtype=np.int8)]
    for rule in known:
        body = tuple(lit for lit in rule.body if not (identity and _is_inequality(lit)))
        plain = replace(rule, body=body).tidy()
        names = dict(zip(plain.head.variables, space.head.variables, strict=False))
        try:
            found.append(space.encode(Program((plain.substitute(names),))))
        except LogicError as error:
            raise ConfigError(
                f"the known rule {rule} cannot be kept: {error}; allow more variables or relations"
            ) from None
    return np.concatenate(found)


def with_inequalities(rule: Rule) -> Rule:
    """The rule with `\\=` between all its variables, so that they stand for different constants.

    Examples
    --------
    >>> from andre.logic import parse_rule
    >>> print(with_inequalities(parse_rule("h(X,Y) :- p(X,Y).")))
    h(X, Y) :- p(X, Y), X \\= Y.
    """
    known = {frozenset(literal.atom.args) for literal in rule.body if _is_inequality(literal)}
    pairs = [pair for pair in combinations(rule.variables, 2) if frozenset(pair) not in known]
    return replace(rule, body=rule.body + tuple(Literal(Atom("\\=", pair)) for pair in pairs))


def _is_inequality(literal: Literal) -> bool:
    return literal.atom.predicate == "\\=" and not literal.negated and len(literal.atom.variables) == 2
