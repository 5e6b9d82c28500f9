"""The parameters of one configuration of a design, as recipes, templates and `check.py` see them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from aiebuild.errors import RecipeError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from aiebuild.expression_tree import Scalar

CONTEXT = ("arch", "device", "design", "mode")
"""What a namespace says besides the parameters: `p.arch`, `p.device`, `p.design`, `p.mode`."""

METHODS = ("as_dict", "from_json")


class UnknownParameterError(RecipeError, AttributeError, KeyError):
    """A name that is no parameter was asked for; `hasattr` and `in` understand it."""

    __str__ = RecipeError.__str__


class Parameters:
    """A frozen namespace: `p.M`, `p["M"]`, `"M" in p`; iteration yields the names in their order.

    Derived parameters are among them. `p.arch`, `p.device`, `p.design` and `p.mode` say what is being built;
    they are not iterated over.

    Raises:
        UnknownParameterError: for a name that is no parameter; the hint has the nearest one.
    """

    __slots__ = ("_context", "_values")
    _context: dict[str, str]
    _values: dict[str, Scalar]

    def __init__(
        self,
        values: Mapping[str, Scalar],
        *,
        arch: str = "",
        device: str = "",
        design: str = "",
        mode: str = "",
    ) -> None:
        context = {"arch": arch, "device": device, "design": design, "mode": mode}
        object.__setattr__(self, "_values", dict(values))
        object.__setattr__(self, "_context", context)

    @classmethod
    def from_json(cls, content: str | bytes | Mapping[str, Any]) -> Parameters:
        """Return the parameters that a parameters file says: its text, or what is in it (`Settled.to_json`).

        Raises:
            ValueError, KeyError, TypeError: the content is not that of a parameters file.
        """
        record = json.loads(content) if isinstance(content, (str, bytes)) else content
        return cls(record["parameters"], **{name: record[name] for name in CONTEXT})

    def as_dict(self) -> dict[str, Scalar]:
        """Return the values by name."""
        return dict(self._values)

    def __getattr__(self, name: str) -> Any:
        # Python itself probes for such names (copying, pickling), and must get its own kind of answer.
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._context:
            return self._context[name]
        return self[name]

    def __getitem__(self, name: str) -> Any:
        if name in self._values:
            return self._values[name]
        design = f"design {self._context['design']!r}" if self._context["design"] else "the design"
        message = f"{design} has no parameter {name!r}"
        raise UnknownParameterError(message, hint=did_you_mean(name, (*self._values, *CONTEXT)))

    def __setattr__(self, name: str, value: object) -> None:
        message = f"parameters cannot be changed: {name} is set to {value!r}"
        raise RecipeError(message, hint="a value that is computed belongs into 'derive' of design.yaml")

    def __delattr__(self, name: str) -> None:
        raise RecipeError(f"parameters cannot be removed: {name}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __len__(self) -> int:
        return len(self._values)

    def __reduce__(self) -> tuple[object, ...]:
        return Parameters.from_json, ({**self._context, "parameters": self._values},)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Parameters) and self.__reduce__() == other.__reduce__()

    def __hash__(self) -> int:
        return hash((tuple(self._values.items()), tuple(self._context.items())))

    def __repr__(self) -> str:
        given = {**self._values, **self._context}
        return f"Parameters({', '.join(f'{name}={value!r}' for name, value in given.items())})"
