"""Rules that runs proposed and the program does without, and why it does."""

from __future__ import annotations

import numpy as np

from andre.evaluation.crisp import CrispSample
from andre.evaluation.description import program_length
from andre.grounding import Codes
from andre.learning import Result
from andre.learning.extraction import distinct_bodies
from andre.report.page import Rejected

__all__ = ["rejected_rules"]


def rejected_rules(result: Result, crisp: CrispSample) -> tuple[Rejected, ...]:
    """Why every proposed rule that is not in the program is not, those proposed by most runs first.

    Proposed are the rules of all runs' own programs, and the subrules that
    the best run's weights hold, of which some never got into its program.

    Parameters
    ----------
    result
        What was learned.
    crisp
        The rows it was learned from.

    Examples
    --------
    >>> from andre.grounding.synthetic import TASKS
    >>> from andre.learning import fit
    >>> sample = TASKS["R3"].sample(300, noise=0.1, seed=1)
    >>> result = fit(sample)
    >>> found = rejected_rules(result, CrispSample.of(sample))
    >>> any(item.rule in result.program.rules for item in found)
    False
    """
    space = result.space
    times: dict[bytes, int] = {}
    for run in result.runs:
        for code in space.encode(run.program):
            times[code.tobytes()] = times.get(code.tobytes(), 0) + 1
    for code in distinct_bodies(_subrules(result)):
        times.setdefault(code.tobytes(), 1)
    for code in result.codes:
        times.pop(code.tobytes(), None)
    if not times:
        return ()
    ranked = sorted(times, key=lambda key: -times[key])
    codes = np.stack([np.frombuffer(key, dtype=np.int8) for key in ranked])  # [rules, m]
    reasons = _reasons(result, crisp, codes)
    evidence = crisp.evidence(codes, "train")
    return tuple(
        Rejected(space.rule(code).with_evidence(item), f"{why} ({_runs(times[key])})")
        for key, code, item, why in zip(ranked, codes, evidence, reasons, strict=True)
    )


def _subrules(result: Result) -> Codes:
    """What the best run's weights make of every atom, whether certain or not, [n, m]."""
    reading = np.array([1, -1, 0], dtype=np.int8)
    return np.asarray(reading[result.weights.argmax(axis=2)])


def _reasons(result: Result, crisp: CrispSample, codes: Codes) -> list[str]:
    """One sentence for every rule, the first that applies."""
    selection, mine = result.config.selection, result.codes
    fires, kept = crisp.covers(codes), crisp.covers(mine)
    counts, fresh = crisp.counts(fires), crisp.counts(fires & ~kept.any(axis=0))
    safe, floor = crisp.space.safe(codes), selection.floor(crisp.totals[0])
    reasons = []
    for place, code in enumerate(codes):
        within = [at for at, other in enumerate(mine) if np.all((other == 0) | (other == code))]
        if selection.safe and not safe[place]:
            reasons.append("it leaves a variable unbound")
        elif not counts[place].any():
            reasons.append("its body never holds")
        elif shortfall := floor.shortfall(counts[place]):
            reasons.append(shortfall)
        elif within:
            reasons.append(f"rule {within[0] + 1} is its body with fewer literals")
        elif not fresh[place, 0]:
            reasons.append("every positive it covers is covered already")
        else:
            longer = program_length(crisp, np.vstack((mine, code))) - result.length
            gain = f"it would add {fresh[place, 0]:g} right and {fresh[place, 1]:g} wrong"
            if longer >= 0:
                reasons.append(f"{gain}, and make the description {longer:.1f} nats longer")
            else:
                reasons.append(f"{gain}; the criterion was {selection.criterion}")
    return reasons


def _runs(count: int) -> str:
    return "proposed by 1 run" if count == 1 else f"proposed by {count} runs"
