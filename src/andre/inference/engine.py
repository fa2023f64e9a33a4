"""What every engine does, and the well-founded model by means of it.

An engine computes least models: of a component's rules over what it holds,
with the negation of the component's own relations read from a given estimate.
Reading negation from an underestimate of the model overestimates it, and the
other way round; the two estimates close in on each other (the alternating
fixpoint). What then still lies between them is undefined.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeVar

from andre.errors import LogicError
from andre.inference.coded import CodedProgram, Rows
from andre.inference.components import Component, components

__all__ = ["ROUNDING", "Engine", "Session", "well_founded"]


#: Two probabilities that differ by less have come by rounding from the same one.
ROUNDING = 1e-9

EstimateT = TypeVar("EstimateT")


class Session(Protocol[EstimateT]):
    """One run of an engine over one program: it holds facts and what was added to them."""

    def least(self, part: Component, against: EstimateT | None) -> EstimateT:
        """The least model of a component.

        The negation of the component's relations is read from `against`, or,
        where that is None, from the stated facts alone.
        """
        ...

    def difference(self, more: EstimateT, less: EstimateT) -> tuple[int, tuple[int, ...]] | None:
        """A relation and a row that two estimates do not agree on, or None."""
        ...

    def add(self, part: Component, model: EstimateT) -> None:
        """Hold the model of a component from now on."""
        ...

    def forget(self, estimate: EstimateT) -> None:
        """Let go of an estimate."""
        ...

    def derived(self) -> Mapping[int, Rows]:
        """What was added that was not stated, or stated with a lower probability."""
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...


class Engine(Protocol):
    """A way to run programs."""

    name: str

    def run(self, program: CodedProgram) -> Mapping[int, Rows]:
        """Compute the well-founded model, and give what it adds to the facts.

        Raises
        ------
        LogicError
            Naming an atom, where the model leaves one undefined.
        """
        ...


def well_founded(program: CodedProgram, session: Session[EstimateT]) -> Mapping[int, Rows]:
    """Compute a program's well-founded model component by component."""
    try:
        for part in components(program.rules):
            model = session.least(part, None) if part.is_stratified else _alternate(program, session, part)
            session.add(part, model)
        return session.derived()
    finally:
        session.close()


def _alternate(program: CodedProgram, session: Session[EstimateT], part: Component) -> EstimateT:
    over = session.least(part, None)
    under = session.least(part, over)
    while gap := session.difference(over, under):
        closer = session.least(part, under)
        if session.difference(over, closer) is None:
            raise LogicError(
                f"{program.atom(*gap)} is neither true nor false in this program: its rules "
                "make it depend on its own negation, so break that circle"
            )
        session.forget(over)
        session.forget(under)
        over, under = closer, session.least(part, closer)
    session.forget(over)
    return under
