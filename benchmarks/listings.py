"""The rules that the paper prints for knowledge bases, counted again on the rows that it counted on."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from andre.census import take_census
from andre.evaluation import CrispSample
from andre.facts import FactBase
from andre.facts.datasets import load
from andre.logic import Program, Rule, parse_rule
from andre.samples import Language, RuleSpace
from benchmarks import BENCHMARKS, Tick, parse_names, silent
from benchmarks.paper import DATASETS, KNOWLEDGE, LISTINGS, Printed, Published
from benchmarks.report import Report, Table, mark, share

#: Accuracies are printed with four decimals, so that they are off by half of the last one, and a little
#: more as the shares of both parts are rounded too.
_ROUNDING = 0.52e-4


@dataclass(frozen=True)
class Recounted:
    """A printed rule, what the paper counts for it on all its rows, and what is counted here."""

    rule: str
    printed: Printed
    share: float  #: of the rows that the paper trained on
    labels: tuple[int, int]  #: positive and negative rows
    n_b: int
    n_r: int
    free: int  #: groundings of the variables that the body lacks: N_b is a multiple of this

    @property
    def paper(self) -> tuple[int, int] | None:
        """The paper's N_b and N_r on all rows, both parts together."""
        train, validation = self.printed.train, self.printed.validation
        if train is None or validation is None:
            return None
        return train[0] + validation[0], train[1] + validation[1]

    @property
    def accuracy(self) -> float:
        """The accuracy of the rule alone, on all rows."""
        return _accuracy(self.n_b, self.n_r, self.labels)

    @property
    def paper_accuracy(self) -> float | None:
        """The paper's accuracy on all rows, from that of its two parts."""
        if self.printed.accuracy is None:
            return None
        train, validation = self.printed.accuracy
        return self.share * train + (1 - self.share) * validation

    @property
    def same_counts(self) -> bool | None:
        """Whether both counts are the same to the row; None where none are printed."""
        return None if self.paper is None else self.paper == (self.n_b, self.n_r)

    @property
    def consistent(self) -> bool | None:
        """Whether the paper's counts make its accuracy on the rows counted here; None without counts."""
        if self.paper is None or self.paper_accuracy is None:
            return None
        return abs(_accuracy(*self.paper, self.labels) - self.paper_accuracy) <= _ROUNDING

    @property
    def same_accuracy(self) -> bool | None:
        """Whether the accuracies are the same but for rounding; None where none are printed."""
        given = self.paper_accuracy
        return None if given is None else abs(given - self.accuracy) <= _ROUNDING

    @property
    def remark(self) -> str:
        """Why the counts differ, as far as they tell."""
        if self.paper is None:
            return "never holds" if not self.n_b else ""
        if self.same_counts:
            return ""
        if self.paper[0] % self.free:
            return f"the printed N_b is no multiple of {self.free}, and this body's is"
        return "the printed N_b is that of another body"

    def line(self) -> tuple[str, ...]:
        """A line of the table of rules."""
        printed = self.printed
        parts = printed.train, printed.validation
        n_b, n_r = (
            "–" if None in parts else " + ".join(f"{part[place]:,}" for part in parts if part is not None)
            for place in (0, 1)
        )
        return (
            f"`{self.rule}`",
            n_b,
            f"{self.n_b:,}",
            n_r,
            f"{self.n_r:,}",
            mark(self.same_counts),
            "–" if printed.accuracy is None else "{:.4f} / {:.4f}".format(*printed.accuracy),
            f"{self.accuracy:.4f}",
            mark(self.same_accuracy),
            self.remark,
        )


@dataclass(frozen=True)
class Listing:
    """The printed rules of one target, counted again."""

    published: Published
    rules: tuple[Recounted, ...]

    @property
    def rows(self) -> int:
        """All rows of the target."""
        return sum(self.rules[0].labels)

    def line(self) -> tuple[str, ...]:
        """A line of the table of targets."""
        same, consistent, accurate = (
            _share([getattr(rule, what) for rule in self.rules])
            for what in ("same_counts", "consistent", "same_accuracy")
        )
        return (
            self.published.dataset,
            self.published.target,
            str(self.published.variables),
            f"{self.rows:,}",
            str(len(self.rules)),
            same,
            consistent,
            accurate,
            str(sum(not rule.n_b for rule in self.rules)),
        )


def recount(paper: Published, printed: Sequence[Printed], facts: FactBase | None = None) -> Listing:
    """Count the printed rules of a target on all rows of its census, as the paper counts them.

    Examples
    --------
    >>> from andre.logic import parse_atom
    >>> facts = FactBase.from_facts(map(parse_atom, ["p(a,b)", "p(b,a)", "p(b,c)", "q(a,b)"]))
    >>> found = recount(Published("small", "p/2", 0.5, 2, None, None), [Printed("p(X2, X1)")], facts)
    >>> found.rules[0].n_b, found.rules[0].n_r, found.rows
    (2, 2, 5)
    """
    facts = load(paper.dataset) if facts is None else facts
    language = Language.preset("paper", paper.target, variables=paper.variables)
    census = take_census(facts, language, semantics="rows")
    crisp = CrispSample.of(census.to_sample())
    positive, negative = (round(float(total)) for total in crisp.totals)
    whole = language.space(facts)
    counted = []
    for each in printed:
        rule = parse_rule(f"{whole.head} :- {each.body}.")
        whole.encode(Program((rule,)))  # refuses what is no candidate
        held = _held(rule, census.space)
        right, wrong = 0, 0
        if held is not None:
            codes = census.space.encode(Program((held,)))
            right, wrong = map(round, crisp.body_counts(codes)[0].tolist())
        # A variable that a body lacks may stand for any constant.
        free = 1 if census.dropped else len(facts.constants) ** (paper.variables - len(rule.variables))
        counted.append(
            Recounted(str(rule), each, paper.share, (positive, negative), right + wrong, right, free)
        )
    return Listing(paper, tuple(counted))


def _accuracy(n_b: int, n_r: int, labels: tuple[int, int]) -> float:
    """The accuracy of a rule alone that holds on N_b rows, N_r of them positive."""
    return (n_r + labels[1] - (n_b - n_r)) / sum(labels)


def _share(marks: Sequence[bool | None]) -> str:
    """How many of the conditions that apply are met."""
    known = [met for met in marks if met is not None]
    return share(sum(known), len(known)) if known else "–"


def _held(rule: Rule, space: RuleSpace) -> Rule | None:
    """The rule without what is false on every row, which a census leaves out; None where it never holds."""
    known = set(space.atoms)
    if any(literal.atom not in known and not literal.negated for literal in rule.body):
        return None
    return replace(rule, body=tuple(literal for literal in rule.body if literal.atom in known))


def bench_listings(datasets: str | None = None, tick: Tick = silent) -> Report:
    """Count the printed rules of some datasets, named with commas; all if not given."""
    names = parse_names(datasets, tuple(dict.fromkeys(dataset for dataset, _ in LISTINGS)), "dataset")
    began = time.perf_counter()
    given = [paper for paper in KNOWLEDGE if (paper.dataset, paper.target) in LISTINGS]
    given = [paper for paper in given if paper.dataset in names]
    found = []
    for paper in given:
        found.append(recount(paper, LISTINGS[paper.dataset, paper.target]))
        tick(len(found), len(given))
    rules = tuple((one.published.dataset, *rule.line()) for one in found for rule in one.rules)
    return Report(
        name="kb-listings",
        title=BENCHMARKS["kb-listings"].title,
        protocol=_PROTOCOL,
        settings={"datasets": ", ".join(names), "seed": "none needed"},
        seconds=time.perf_counter() - began,
        tables=(
            Table("By target", _TARGETS, tuple(one.line() for one in found)),
            _statistics([name for name in DATASETS if datasets is None or name in names]),
            Table("By rule", _RULES, rules),
        ),
        notes=_notes(found),
        data={"listings": [asdict(one) for one in found]},
    )


def _statistics(names: Sequence[str]) -> Table:
    """The paper's table of datasets beside what the public files hold."""
    lines = []
    for name in names:
        paper, facts = DATASETS[name], load(name)
        (line, *_) = (line for line in KNOWLEDGE if line.dataset == name)
        language = Language.preset("paper", line.target, variables=line.variables)
        rows = int(take_census(facts, language, semantics="rows").n_examples)
        lines.append(
            (
                name,
                f"{paper.constants:,} / {len(facts.constants):,}",
                f"{paper.relations} / {len(facts.relations)}",
                f"{paper.facts:,} / {len(facts):,}",
                line.target,
                str(line.variables),
                f"{paper.train:,} + {paper.test:,}",
                f"{paper.rows:,}",
                f"{rows:,}",
                mark(paper.rows == rows),
            )
        )
    return Table("The paper's table of datasets / the public files", _STATISTICS, tuple(lines))


def _notes(found: Sequence[Listing]) -> tuple[str, ...]:
    """What the counts come to."""
    rules = [rule for one in found for rule in one.rules]
    counted = [rule for rule in rules if rule.paper is not None]
    notes = []
    if counted:
        plain, negated = (
            [rule.same_counts for rule in counted if ("\\+" in rule.rule) == has] for has in (False, True)
        )
        notes.append(
            f"N_b and N_r are equal to the row for {share(sum(map(bool, plain)), len(plain))} rules without "
            f"a negation and {share(sum(map(bool, negated)), len(negated))} with one. The printed counts of "
            f"{_share([rule.consistent for rule in counted])} make the printed accuracy on as many rows as "
            "here: rows and numbers of variables are the paper's. Where counts differ, they are not those of "
            "the printed body. They may be the network's, where a literal that is not quite certain does not "
            "rule a row out, or those of a rule of which literals were left out in print."
        )
    for one in found:
        if not any(rule.n_b for rule in one.rules):
            notes.append(
                f"None of the printed rules of {one.published.target} holds on any row of "
                f"{one.published.dataset}: their arguments are of kinds that never meet."
            )
    return tuple(notes)


_STATISTICS = (
    "dataset", "constants", "relations", "facts", "target", "variables", "the paper's rows", "together",
    "ours", "equal",
)  # fmt: skip
_TARGETS = (
    "dataset", "target", "variables", "rows", "rules", "counts equal to the row",
    "printed counts make the printed accuracy", "accuracy equal", "rules that never hold",
)  # fmt: skip
_RULES = (
    "dataset", "rule", "N_b, paper: train + validation", "ours", "N_r, paper", "ours", "equal",
    "accuracy, paper: train / validation", "ours", "equal", "remark",
)  # fmt: skip
_PROTOCOL = (
    "Every rule that the paper prints for a knowledge base, counted again: N_b rows on which its body holds, "
    "N_r of them with a true head, as the census counts all rows of the target (preset `paper`, semantics "
    "`rows`). The paper divides its rows at random into a part to train and one to validate; both parts "
    "together are all rows, which no draw can change, so that its counts are added up and its accuracies "
    "weighed. The number of variables is not stated: it is the one at which row totals and counts come out, "
    "4 for all three targets of Nations and 3 elsewhere."
)
