"""A shop's knowledge graph: rules for every relation, and the facts that it lacks.

A graph of products is drawn as triples, tab-separated: what is made by whom, what belongs to which
category, what fits what. A part of the facts that follow from others is withheld, as in any
graph that people keep. Rules are learned for all relations, and derive what was withheld.

Run it with `python examples/run.py products [FOLDER [OPTION...]]`; it takes less than a minute. All it
makes lies in FOLDER, by default `build` beside this file. Options go to `andre learn`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

Triple = tuple[str, str, str]

WITHHELD = 0.15


def draw_graph(rng: Random) -> tuple[set[Triple], set[Triple]]:
    """What the shop knows, and what follows from it."""
    makers = [f"maker{number}" for number in range(6)]
    families = {f"series{number}": makers[number % len(makers)] for number in range(18)}
    stated: set[Triple] = {(series, "made_by", maker) for series, maker in families.items()}
    follows: set[Triple] = set()
    sockets = {series: f"socket{rng.randrange(5)}" for series in families}
    devices, chargers = [], []
    for number in range(70):
        series = rng.choice(sorted(families))
        product = f"product{number}"
        stated.add((product, "part_of", series))
        follows.add((product, "made_by", families[series]))
        (chargers if number % 3 == 0 else devices).append((product, sockets[series]))
    stated |= {(device, "needs", socket) for device, socket in devices}
    stated |= {(charger, "offers", socket) for charger, socket in chargers}
    for device, needed in devices:
        for charger, offered in chargers:
            if needed == offered:
                follows |= {(charger, "charges", device), (device, "charged_by", charger)}
    return stated, follows


def main(andre: Callable[..., str], folder: Path, *options: str) -> None:
    """Draw a graph, withhold a part, learn every relation, derive what is missing, and write a report."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = Random(0)
    stated, follows = draw_graph(rng)
    withheld = {triple for triple in sorted(follows) if rng.random() < WITHHELD}
    graph, derived, run = folder / "graph.tsv", folder / "derived.tsv", folder / "run"
    known = sorted((stated | follows) - withheld)
    graph.write_text("".join("\t".join(triple) + "\n" for triple in known))
    say = sys.stdout.write
    say(andre("learn", graph, "--all", "--out", run, *options))
    say(andre("predict", run, graph, "--out", derived))
    new = {tuple(line.split("\t")) for line in derived.read_text().splitlines()} - set(known)
    say(f"{len(new)} new facts; {len(withheld)} were withheld, {len(new & withheld)} of them among those\n")
    say(andre("report", run))
