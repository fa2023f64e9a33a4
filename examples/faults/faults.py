"""Faults of machines: rules from what sensors suspect, though every tenth log entry is wrong.

A table is drawn as a maintenance log might hold it: for every hour of a machine, how sure six detectors
are of what they look for, from 0 to 1, and whether the machine was down. Some readings are missing. The
machine fails for two reasons, and a tenth of the entries say the opposite of what happened.

Run it with `python examples/run.py faults [FOLDER [OPTION...]]`; it takes less than a minute. All it
makes lies in FOLDER, by default `build` beside this file. Options go to `andre fit`.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

SENSORS = ("hot", "vibrating", "leaking", "overloaded", "serviced", "humid")
HOURS = 600
MISLABELLED = 0.1
MISSING = 0.03


def draw_hour(rng: Random) -> tuple[dict[str, float], bool]:
    """What the sensors say in an hour, and whether the machine fails."""
    state = {name: rng.random() < 0.5 for name in SENSORS}
    fails = (state["hot"] and state["vibrating"]) or (state["leaking"] and not state["serviced"])
    seen = {name: rng.gauss(0.8 if holds else 0.2, 0.12) for name, holds in state.items()}
    return {name: min(1.0, max(0.0, value)) for name, value in seen.items()}, fails


def write_log(path: Path, hours: int, rng: Random) -> list[int]:
    """Write a log, and give the numbers of its mislabelled entries."""
    wrong = []
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*SENSORS, "fault"])
        for hour in range(hours):
            seen, fails = draw_hour(rng)
            if rng.random() < MISLABELLED:
                fails = not fails
                wrong.append(hour)
            cells = ["" if rng.random() < MISSING else f"{value:.2f}" for value in seen.values()]
            writer.writerow([*cells, int(fails)])
    return wrong


def main(andre: Callable[..., str], folder: Path, *options: str) -> None:
    """Draw a log, learn from it, find its wrong entries, and write a report."""
    folder.mkdir(parents=True, exist_ok=True)
    log, run = folder / "log.csv", folder / "run"
    wrong = write_log(log, HOURS, Random(0))
    say = sys.stdout.write
    say(andre("fit", log, "--label", "fault", "--crisp", "--validation", "0.2", "--out", run, *options))
    said = csv.DictReader(andre("predict", run, log).splitlines())
    with log.open() as file:
        labels = [row["fault"] for row in csv.DictReader(file)]
    pairs = enumerate(zip(said, labels, strict=True))
    suspects = [hour for hour, (row, label) in pairs if row["prediction"] != label]
    found = len(set(suspects) & set(wrong))
    say(
        f"{len(suspects)} entries contradict the rules; {len(wrong)} are wrong, {found} of them among those\n"
    )
    say(andre("report", run))
