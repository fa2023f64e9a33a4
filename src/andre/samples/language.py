"""The language bias: a target, and the atoms and bodies that its rules may have.

Relations are named by name and arity, as p/2, and an argument by its place, as
p/2:1.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from itertools import combinations, permutations, product
from pathlib import Path
from typing import Any

import numpy as np

from andre.errors import ConfigError, DataError
from andre.facts import Bias, FactBase, Key, argument_types, key_text, near_names, training_facts
from andre.logic import Atom, Constant, Rule, Variable
from andre.samples.form import Form
from andre.samples.space import RuleSpace

#: The most variables of a rule: atoms are listed for every tuple of variables.
_MOST_VARIABLES = 100
#: Variables of a rule if a bias does not say; Popper's default.
_BIAS_VARIABLES = 6
_ARITY = re.compile(r"/\d+\Z")
_PLACE = re.compile(r"(?P<name>.+)/(?P<arity>\d+):(?P<position>\d+)\Z", re.DOTALL)


def _relations_named(facts: FactBase, name: str) -> list[Key]:
    """The relations with a name, which may include the arity."""
    exact = [key for key in facts.relations if key_text(key) == name]
    return exact or [key for key in facts.relations if key[0] == name]


def _positions(facts: FactBase, places: tuple[str, ...]) -> dict[Key, list[int]]:
    """Argument positions by relation, counted from 0; p/2:1 is the first argument of p/2."""
    found: dict[Key, list[int]] = {}
    for text in places:
        match = _PLACE.match(text)
        if match is None:
            raise ConfigError(f"{text!r} is no place: write p/2:1 for the first argument of p/2")
        key, position = (match["name"], int(match["arity"])), int(match["position"])
        if key not in facts.relations:
            raise ConfigError(f"the place {text} belongs to no relation: check its name and arity")
        if not 1 <= position <= key[1]:
            raise ConfigError(f"{key_text(key)} has no argument {position}: count from 1 to {key[1]}")
        found.setdefault(key, []).append(position - 1)
    return found


def check_setting(name: str, value: object, kind: type, wanted: str) -> None:
    """Refuse a setting of the wrong type; `wanted` describes the right one.

    Examples
    --------
    >>> check_setting("recursion", "maybe", bool, "true or false")
    Traceback (most recent call last):
    andre.errors.ConfigError: the setting recursion is 'maybe' and must be true or false
    """
    # In Python, bool is a subclass of int.
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ConfigError(f"the setting {name} is {value!r} and must be {wanted}")


#: The type of each setting, and its description for error messages.
_KINDS: dict[str, tuple[type, str]] = {
    **dict.fromkeys(("variables", "max_body"), (int, "a whole number")),
    **dict.fromkeys(
        (
            "repeated",
            "order",
            "inequality",
            "singletons",
            "free_head",
            "recursion",
            "negation",
            "held_out",
            "unary_negatives",
            "cuts",
            "arithmetic",
        ),
        (bool, "true or false"),
    ),
    **dict.fromkeys(
        ("relations", "exclude", "require", "constants", "one_of_type"), (tuple, "a list of names")
    ),
    "target": (str, "a name such as p/2"),
}


@dataclass(frozen=True)
class Language:
    """A target and what the bodies of its rules may contain.

    Only the target is required. By default a body may have every relation on
    every ordered tuple of distinct variables, and inequalities.

    Examples
    --------
    >>> ann, bob = Constant("ann"), Constant("bob")
    >>> facts = FactBase.from_facts([Atom("parent", (ann, bob)), Atom("old", (ann,))])
    >>> print(*Language("parent/2", variables=2).space(facts).atoms, sep="; ")
    parent(X2, X1); old(X1); old(X2); X1 \\= X2
    """

    target: str  #: the relation to define: its name, or name and arity as in p/2
    variables: int = 3  #: how many variables a rule may have, including those of the head
    relations: tuple[str, ...] | None = None  #: the relations for bodies; None for all
    exclude: tuple[str, ...] = ()  #: relations (p, p/2) or atoms (p(X1,X3)) that no body may have
    require: tuple[str, ...] = ()  #: relations or atoms that every body must have
    repeated: bool = False  #: whether a variable may occur twice in an atom
    #: Argument types, which hold for the head's variables: declared (name, types), or inferred (True).
    types: tuple[tuple[str, tuple[str, ...]], ...] | bool = False
    #: Arguments that may be constants: p/2:1 is the first argument of p/2. With None they are chosen from
    #: the data if rules are grown along links from the examples.
    constants: tuple[str, ...] | None = None
    #: Whether numbers are compared with thresholds from the data, if rules are grown along links from the
    #: examples.
    cuts: bool = True
    #: Whether sums of numbers, plus(A, B, C) for A + B = C, are tried if rules are grown along links from
    #: the examples and all rules without sums make mistakes.
    arithmetic: bool = True
    #: For each relation, which arguments must be bound before it is used (in) and which may not be (out).
    directions: tuple[tuple[str, tuple[str, ...]], ...] = ()
    one_of_type: tuple[str, ...] = ()  #: types for which the only variable is in the head
    order: bool = False  #: whether bodies compare numbers by <
    inequality: bool = True  #: whether bodies may have inequalities of variables
    max_body: int | None = None  #: how many literals a body may have
    singletons: bool = False  #: whether a variable that is not in the head may occur only once
    #: Whether a head may have variables that its body lacks, and that stand for anything. Where rules are
    #: grown from what examples reach and false examples are stated, that is tried by itself where bodies
    #: that bind all of them make mistakes.
    free_head: bool = False
    recursion: bool = True  #: whether a body may have the target
    negation: bool = True  #: whether literals may be negated
    held_out: bool = False  #: whether variables also range over constants that occur in no training fact
    #: Whether in `rows` a head of one argument ranges over all constants, unless negatives are stated. Over
    #: the constants of its facts, as other heads do, it has no negative examples.
    unary_negatives: bool = False

    def __post_init__(self) -> None:
        for name, (kind, wanted) in _KINDS.items():
            value = getattr(self, name)
            if isinstance(value, list) and kind is tuple:
                value = tuple(value)
                object.__setattr__(self, name, value)
            if value is None and name in {"relations", "max_body", "constants"}:
                continue
            check_setting(name, value, kind, wanted)
            for item in value if kind is tuple else ():
                check_setting(name, item, str, wanted)
        if not isinstance(self.types, tuple):
            check_setting("types", self.types, bool, "true or false, or the types of each relation")
        if self.variables < 1:
            raise ConfigError(f"a rule needs at least one variable, not {self.variables}: raise variables")
        if self.variables > _MOST_VARIABLES:
            raise ConfigError(f"a rule may have at most {_MOST_VARIABLES} variables: lower variables")
        if self.max_body is not None and self.max_body < 1:
            raise ConfigError(f"a body of at most {self.max_body} literals is empty: raise max_body")

    @classmethod
    def preset(cls, name: str, target: str, **options: Any) -> Language:
        """The language of the preset `default` or `paper`, overridden by options.

        Examples
        --------
        >>> Language.preset("paper", "p/2").inequality
        False
        """
        if name not in {"default", "paper"}:
            raise ConfigError(f"there is no preset {name!r}: choose default or paper")
        paper = {"inequality": False, "singletons": True, "held_out": True, "unary_negatives": True}
        return cls(target, **((paper if name == "paper" else {}) | options))

    @classmethod
    def from_toml(cls, path: str | Path, **options: Any) -> Language:
        """The language in a TOML file whose keys are the fields, overridden by options."""
        try:
            read = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except (ValueError, RecursionError) as error:  # bad TOML or UTF-8, too many digits, nested too deep
            raise ConfigError(f"{path} is no TOML file: {error}") from None
        known = [field.name for field in fields(cls)]
        if unknown := [name for name in read if name not in known]:
            raise ConfigError(f"{path}: there is no setting {unknown[0]!r}: choose from {', '.join(known)}")
        if isinstance(kinds := read.get("types"), dict):
            if not all(
                isinstance(some, list) and all(isinstance(k, str) for k in some) for some in kinds.values()
            ):
                raise ConfigError(
                    f"{path}: types is {kinds!r} and must have a list of names for each relation"
                )
            read["types"] = tuple((name, tuple(some)) for name, some in kinds.items())
        given = {**read, **options}
        if "target" not in given:
            raise ConfigError(f"{path} names no target: add a line such as target = 'p/2'")
        try:
            return cls(**given)
        except ConfigError as error:
            raise ConfigError(f"{path}: {error}") from None

    @classmethod
    def from_bias(cls, bias: Bias, **options: Any) -> Language:
        """The language of a bias file of Popper or of modes of Aleph, overridden by options.

        Examples
        --------
        >>> bias = Bias(head=(("gp", 2),), body=(("parent", 2),), max_vars=3, max_body=2)
        >>> language = Language.from_bias(bias)
        >>> language.target, language.relations, language.max_body, language.recursion
        ('gp/2', ('parent/2',), 2, False)
        """
        if "target" not in options and len(bias.head) != 1:
            heads = ", ".join(map(key_text, bias.head))
            raise ConfigError(f"the bias has {len(bias.head)} targets ({heads}): say which one to learn")
        body = [*bias.body, *(bias.head if bias.enable_recursion else ())]
        of_heads = {kind for head in bias.head for kind in bias.types_of(*head) or ()}
        taken: dict[str, Any] = {
            "relations": tuple(dict.fromkeys(map(key_text, body))) or None,
            "types": bias.types,
            "directions": bias.directions,
            "cuts": False,
            "max_body": bias.max_body,
            "recursion": bias.enable_recursion,
            "singletons": bias.allow_singletons,
            "constants": bias.places,
            "one_of_type": tuple(kind for kind in bias.one_of_type if kind in of_heads),
            "negation": False,
        }
        if bias.head:
            taken["target"] = key_text(bias.head[0])
        taken["variables"] = bias.max_vars or max([_BIAS_VARIABLES, *(arity for _, arity in bias.head)])
        return cls(**{**taken, **options})

    @classmethod
    def of(
        cls, facts: FactBase, given: Language | Path | str | None, preset: str = "default", **options: Any
    ) -> Language:
        """The given language, a value or a TOML file; else that of the facts' bias; else that of a preset.

        Raises
        ------
        ConfigError
            Where none of them names a target.
        """
        if isinstance(given, Language):
            return replace(given, **options)
        if given is not None:
            return cls.from_toml(given, **options)
        if facts.bias is not None:
            return cls.from_bias(facts.bias, **options)
        if "target" not in options:
            names = ", ".join(map(key_text, facts.relations))
            raise ConfigError(f"there is no target: name one of {names}")
        return cls.preset(preset, **options)

    def key(self, facts: FactBase) -> Key:
        """Name and arity of the target among these facts.

        Raises
        ------
        DataError
            Where the target is unknown, has no argument, or has no facts for training.
        """
        found = _relations_named(facts, self.target)
        if not found:
            near = near_names(_ARITY.sub("", self.target), (name for name, _ in facts.relations))
            close = ", or ".join(key_text(key) for key in facts.relations if key[0] in near)
            others = f"choose from {', '.join(map(key_text, facts.relations))}"
            hint = f"did you mean {close}?" if close else others
            raise DataError(f"there is no relation {self.target}: {hint}")
        if len(found) > 1:
            raise DataError(f"{self.target} is {' and '.join(map(key_text, found))}: name one of them")
        relation = facts.relations[found[0]]
        if not relation.arity:
            raise DataError(f"{relation} has no arguments, so there is nothing to range over")
        train = relation.marked("train")
        if not train.any():
            where = "test" if relation.marked("test").all() else "validation and test"
            raise DataError(f"{relation} occurs only in {where} facts: mark some of its facts train")
        if relation.impossible[train].all():
            raise DataError(f"all training facts of {relation} are denied: it needs positive examples")
        return found[0]

    def space(self, facts: FactBase) -> RuleSpace:
        """The rule space over these facts: the head, and every atom that a body may have.

        Raises
        ------
        ConfigError, DataError
            Where a name is unknown or no candidate is left.
        """
        name, arity = self.key(facts)
        facts = training_facts(facts, held_out=self.held_out)
        if self.variables < arity:
            raise ConfigError(
                f"{name}/{arity} has {arity} variables in its head, and {self.variables} are allowed: "
                f"set variables to at least {arity}"
            )
        variables = tuple(Variable(f"X{number}") for number in range(1, self.variables + 1))
        head = Atom(name, variables[:arity])
        atoms = dict.fromkeys(self._atoms(facts, head, variables))
        atoms.pop(head, None)
        self._check_names(facts, [*atoms, head])
        kept = tuple(atom for atom in atoms if not self.excludes(atom))
        if not any(not atom.is_builtin for atom in kept):
            raise DataError(
                f"the language leaves no candidate for the body of {head}: "
                "allow more variables, relations or recursion"
            )
        return RuleSpace(head, kept)

    def excludes(self, atom: Atom) -> bool:
        """Whether an atom is excluded from all bodies.

        Examples
        --------
        >>> language = Language("h/1", exclude=("p/1", "q(X1)"))
        >>> [language.excludes(Atom.parse(text)) for text in ("p(X2)", "q(X1)", "q(X2)")]
        [True, True, False]
        """
        return bool(set(map(_plain, self.exclude)) & _names_of(atom))

    def allows(self, rule: Rule, facts: FactBase) -> bool:
        """Whether a rule with variables named X1, X2, ... belongs to this language over some facts.

        Examples
        --------
        >>> from andre.logic import parse_atom, parse_rule
        >>> facts = FactBase.from_facts([parse_atom("p(a, b)"), parse_atom("h(a)")])
        >>> rules = parse_rule("h(X1) :- p(X1, X2), p(X2, X1)."), parse_rule("h(X1) :- p(X1, X2).")
        >>> [Language("h/1").allows(rule, facts) for rule in rules]
        [True, False]
        """
        atoms, keys = [literal.atom for literal in rule.body], set(self.body_keys(facts))
        named = set[str]().union(*map(_names_of, atoms))
        places = [arg for atom in atoms for arg in atom.args]
        return (
            all(atom.is_builtin or atom.key in keys for atom in atoms)
            and not any(map(self.excludes, atoms))
            and set(map(_plain, self.require)) <= named
            and len(rule.variables) <= self.variables
            and (self.max_body is None or len(rule.body) <= self.max_body)
            and (self.negation or not any(literal.negated for literal in rule.body))
            and (self.singletons or all(places.count(one) > 1 for one in rule.auxiliary_variables))
        )

    def form(self, space: RuleSpace) -> Form:
        """The conditions of this language on whole bodies, over the columns of a rule space."""
        named: dict[str, list[int]] = {_plain(wanted): [] for wanted in self.require}
        for column, atom in enumerate(space.atoms):
            for wanted in named.keys() & _names_of(atom):
                named[wanted].append(column)
        return Form(
            space,
            singletons=self.singletons,
            negation=self.negation,
            max_body=self.max_body,
            variables=self.variables if space.links else None,
            require=tuple(tuple(columns) for columns in named.values()),
            directions=self.directions,
        )

    def types_of(self, facts: FactBase) -> Mapping[Key, tuple[str, ...]]:
        """The types of every relation's arguments, declared or inferred."""
        declared = {} if isinstance(self.types, bool) else dict(self.types)
        found = dict(argument_types(facts).of)
        for (name, arity), kinds in found.items():
            if name in declared and len(declared[name]) == arity:
                found[name, arity] = declared[name]
            elif declared:
                found[name, arity] = tuple(f"{kind} (inferred)" for kind in kinds)
        return found

    @property
    def inputs(self) -> Mapping[str, tuple[int, ...]]:
        """By name of a relation, the arguments that must be bound before it is used, counted from 0."""
        return {
            name: tuple(place for place, way in enumerate(ways) if way == "in")
            for name, ways in self.directions
        }

    def body_keys(self, facts: FactBase) -> list[Key]:
        """The relations that bodies may have, in the order of the facts."""
        keys, target = set(facts.relations), self.key(facts)
        if self.relations is not None:
            keys = set()
            # What background rules derive, and what a bias allows, may have no facts.
            derived = {*(rule.head.key for rule in facts.rules), *(facts.bias.body if facts.bias else ())}
            for name in self.relations:
                found = _relations_named(facts, name)
                if not found and not any(name in {key[0], key_text(key)} for key in derived):
                    raise ConfigError(f"there is no relation {name} for bodies: check its name and arity")
                keys.update(found)
        without = set(map(_plain, self.exclude))
        keys -= {key for key in keys if {_plain(key[0]), _plain(key_text(key))} & without}
        return [k for k in facts.relations if k in keys and k[1] and (self.recursion or k != target)]

    def _atoms(self, facts: FactBase, head: Atom, variables: tuple[Variable, ...]) -> Iterator[Atom]:
        types = self.types_of(facts) if self.types else None
        head_types = dict(zip(head.args, types[head.key], strict=True)) if types else {}
        positions = _positions(facts, self.constants or ())
        for key in self.body_keys(facts):
            for args in _arguments(key[1], variables, self.repeated):
                kinds = zip(args, types[key], strict=True) if types else ()
                # Variables of the head have their types; others may have any except those of `one_of_type`.
                if all(
                    head_types[variable] == kind if variable in head_types else kind not in self.one_of_type
                    for variable, kind in kinds
                ):
                    yield Atom(key[0], args)
            relation = facts.relations[key]
            for position in positions.get(key, ()):
                codes = np.unique(relation.codes[:, position])
                for value, args in product(codes, _arguments(key[1] - 1, variables, self.repeated)):
                    if args:  # an atom without variables is the same everywhere
                        constant = Constant(facts.constants[value])
                        yield Atom(key[0], (*args[:position], constant, *args[position:]))
        if self.order and any(not isinstance(value, str) for value in facts.constants):
            yield from (Atom("<", pair) for pair in permutations(variables, 2))
        if self.inequality:
            yield from (Atom("\\=", pair) for pair in combinations(variables, 2))

    def _check_names(self, facts: FactBase, atoms: list[Atom]) -> None:
        known = set[str]().union(*map(_names_of, atoms))
        known.update(_plain(name) for key in facts.relations for name in (key[0], key_text(key)))
        for setting, names in (("exclude", self.exclude), ("require", self.require)):
            for name in names:
                if _plain(name) not in known:
                    raise ConfigError(f"{setting} names {name!r}, which is no relation or candidate atom")


def _arguments(arity: int, variables: tuple[Variable, ...], repeated: bool) -> Iterator[tuple[Variable, ...]]:
    return product(variables, repeat=arity) if repeated else permutations(variables, arity)


def _plain(text: str) -> str:
    return text.replace(" ", "")


def _names_of(atom: Atom) -> set[str]:
    """The names by which a setting may refer to an atom: itself, its predicate, predicate and arity."""
    return {_plain(name) for name in (str(atom), atom.predicate, key_text(atom.key))}
