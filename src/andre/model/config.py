"""Settings of the network and its losses, with the paper's symbols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Annotated, Any, Literal, Self, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from andre.errors import ConfigError

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]
Whole = Annotated[int, Field(ge=0)]


class Settings(BaseModel):
    """Immutable settings that are validated."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> Self:
        """Settings from nested values, with a sentence where one is out of range."""
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(step) for step in first["loc"])
            if first["type"] == "extra_forbidden":
                raise ConfigError(f"there is no setting {where}: {cls._hint(first['loc'])}") from None
            says = "it must be true or false" if first["type"].startswith("bool") else first["msg"].lower()
            raise ConfigError(f"the setting {where} is {first['input']!r}: {says}") from None

    @classmethod
    def _hint(cls, steps: Sequence[int | str]) -> str:
        """What may be meant by the name of a setting, the last of these steps, that does not exist."""
        part: type[BaseModel] = cls
        for step in steps[:-1]:
            part = cast(type[BaseModel], part.model_fields[str(step)].annotation)
        names = list(part.model_fields)
        near = get_close_matches(str(steps[-1]), names, 1)
        return f"is {near[0]} meant?" if near else f"choose from {', '.join(names)}"


class NetworkConfig(Settings):
    """The conjunction-disjunction network.

    Examples
    --------
    >>> NetworkConfig().beta
    20.0
    """

    operators: Literal["attention", "product", "geometric"] = "attention"
    beta: Positive = 20.0  #: attention sharpness, beta
    steepness: Positive = 10.0  #: sigmoid sharpening, lambda
    center: Annotated[float, Field(gt=0, lt=1)] = 0.5  #: sigmoid centre, gamma
    #: Fractional valuations are put on this many levels where that is cheaper; None keeps them exact.
    #: Even, so that 0.5 is no level.
    levels: Annotated[int, Field(ge=2, le=65_536, multiple_of=2)] | None = 64


class LossConfig(Settings):
    """Weights and shapes of the losses; `andre.model.LOSSES` lists them.

    Examples
    --------
    >>> LossConfig(entropy=0.1).entropy
    0.1
    """

    balance: bool = True  #: both classes weigh the same in the cross-entropy
    reduction: Literal["sum", "mean"] = "mean"  #: of cross-entropy over rows and entropy over atoms
    entropy: NonNegative = 0.3  #: lambda_E, at the end of training
    similarity: NonNegative = 0.2  #: lambda_S, at the start of training
    similarity_end: NonNegative = 0.0  #: lambda_S, at the end
    range_restricted: NonNegative = 1.0  #: lambda_R, at the end
    surplus: NonNegative = 0.1  #: eta, the price of a head variable's further occurrences
    connected: NonNegative = 5.0  #: lambda_C, at the end
    connected_height: NonNegative = 1.0  #: c_1
    connected_width: Positive = 12.5  #: c_2
    #: How the connected loss grows beyond two occurrences; the paper's square starts at about m ** 2.
    connected_growth: Literal["quadratic", "linear"] = "linear"
    digitization: NonNegative = 0.001  #: lambda_D, at the end
    epsilon: Positive = 1e-6  #: keeps logarithms finite
