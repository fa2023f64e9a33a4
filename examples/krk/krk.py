"""Chess: which positions of a white king, a white rook and a black king are illegal with white to move.

A position is six numbers from 0 to 7: file and rank of the white king, of the white rook and of the black
king. It is illegal if two pieces stand on one square, the kings stand side by side, or the rook gives
check and nothing stands between. Background are the order of numbers and which are neighbours.

Run it with `python examples/run.py krk [FOLDER [OPTION...]]`. All it makes lies in FOLDER, by default
`build` beside this file. Options go to `andre learn`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

Position = tuple[int, int, int, int, int, int]

BIAS = """\
head_pred(illegal,6).
body_pred(lt,2).
body_pred(adj,2).
max_vars(6).
max_body(6).
"""


def is_illegal(position: Position) -> bool:
    """The rules of chess."""
    (king_file, king_rank, rook_file, rook_rank, file, rank) = position
    king, rook, other = (king_file, king_rank), (rook_file, rook_rank), (file, rank)
    if len({king, rook, other}) < 3:
        return True
    if max(abs(king_file - file), abs(king_rank - rank)) == 1:
        return True
    if rook_file == file:
        return not (king_file == file and _is_between(king_rank, rook_rank, rank))
    if rook_rank == rank:
        return not (king_rank == rank and _is_between(king_file, rook_file, file))
    return False


def _is_between(number: int, one: int, other: int) -> bool:
    return min(one, other) < number < max(one, other)


def draw_positions(count: int, rng: Random) -> list[Position]:
    """Different positions; about a third of them are illegal."""
    squares: list[Position] = []
    seen: set[Position] = set()
    while len(squares) < count:
        one, two, three, four, five, six = (rng.randrange(8) for _ in range(6))
        position = (one, two, three, four, five, six)
        if position not in seen:
            seen.add(position)
            squares.append(position)
    return squares


def write_positions(positions: list[Position], folder: Path) -> Path:
    """Write background, bias and examples."""
    folder.mkdir(parents=True, exist_ok=True)
    numbers = range(8)
    less = [f"lt({one},{two})." for one in numbers for two in numbers if one < two]
    near = [f"adj({one},{two})." for one in numbers for two in numbers if abs(one - two) <= 1]
    examples = [
        f"{'pos' if is_illegal(each) else 'neg'}(illegal({','.join(map(str, each))}))." for each in positions
    ]
    for name, lines in (("bk.pl", less + near), ("exs.pl", examples), ("bias.pl", [BIAS])):
        (folder / name).write_text("\n".join(lines) + "\n")
    return folder


def write(folder: Path) -> tuple[Path, Path]:
    """Write 1,000 positions to learn from and 5,000 others to judge by."""
    positions = draw_positions(6000, Random(0))
    return write_positions(positions[:1000], folder / "train"), write_positions(
        positions[1000:], folder / "test"
    )


def main(andre: Callable[..., str], folder: Path, *options: str) -> None:
    """Draw positions, learn from some, judge on the others, and write a report."""
    train, test = write(folder)
    run, say = folder / "run", sys.stdout.write
    say(andre("learn", train, "--out", run, *options))
    say(andre("eval", run, test))
    say(andre("report", run))
