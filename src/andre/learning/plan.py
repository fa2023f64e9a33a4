"""A plan: all that decides what `learn` looks for and how."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, get_args

from andre.errors import ConfigError
from andre.facts import FactBase
from andre.grounding import Language
from andre.grounding.census import Mode, Semantics
from andre.learning.config import Config
from andre.logic import Program

__all__ = ["Plan"]

#: Formats in which knowledge bases come, to be completed rather than defined.
_KNOWLEDGE_BASES = frozenset({"nl", "tsv", "tsv-splits"})


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
    known: Program = field(default=Program())  #: rules that stay as they are, to be added to
    short_bodies: bool = True  #: whether all bodies of one or two literals are pooled with those of the runs

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
        """Make a plan from a preset and single options.

        Parameters
        ----------
        facts
            What is learned from. Facts read from triples or `.nl` are a knowledge
            base to complete; any others state the target wholly.
        target
            The first target; a language or a bias may name it instead.
        preset
            `default` works best; `paper` follows the paper: rows, its language,
            its settings.
        language
            A language, or a TOML file that holds one. By default that of the
            bias that came with the facts, else that of the preset.
        options
            Fields of this class, of `Language` and settings of `Config` by name.
        """
        own = {name: options.pop(name) for name in _OWN & options.keys()}
        own = {name: value for name, value in own.items() if value is not None}
        about_language = {name: options.pop(name) for name in _LANGUAGE & options.keys()}
        about_language = {name: value for name, value in about_language.items() if value is not None}
        if target is not None:
            about_language["target"] = target
        known = facts.origin in _KNOWLEDGE_BASES
        mode: Mode = own.pop("mode", "complete" if known else "define")
        semantics: Semantics = own.pop("semantics", "rows" if preset == "paper" else "exists")
        for given, choices in ((mode, get_args(Mode)), (semantics, get_args(Semantics))):
            if given not in choices:
                raise ConfigError(f"{given!r} is unknown: choose from {', '.join(choices)}")
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
            own.setdefault("short_bodies", False)
        made = Language.of(facts, language, preset, **about_language)
        return cls(made, Config.preset(preset, **options), mode, semantics, identity, **own)

    def aim(self, target: str) -> Language:
        """The language with another target."""
        return replace(self.language, target=target)


_LANGUAGE = {field.name for field in fields(Language)} - {"target"}
_OWN = {field.name for field in fields(Plan)} - {"language", "config"}
