"""What a recipe says, as values, without SCons: for those who tell of a design and build nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiebuild import model
from aiebuild.errors import AieBuildError, Location, RecipeError
from aiebuild.keywords import make

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from aiebuild.parameters import Parameters

VALUES = {
    "CoreObject": model.CoreObject,
    "CoreArchive": model.CoreArchive,
    "Prebuilt": model.Prebuilt,
    "MlirModule": model.MlirModule,
}


class _Nodes:
    """Stands for nodes, which a recipe may pass on: whatever is asked of it is another one."""

    def __getattr__(self, name: str) -> _Nodes:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __getitem__(self, key: object) -> _Nodes:
        return self

    def __call__(self, *_arguments: object, **_keywords: object) -> _Nodes:
        return self


class _Environment(_Nodes):
    """What a recipe sees as `env`: the words give values, designs are kept, and everything else does nothing."""

    def __init__(self, where: Location) -> None:
        self.where = where
        self.designs: list[model.Design] = []

    def __getattr__(self, name: str) -> Any:
        if name in VALUES:
            return self._maker(VALUES[name])
        return super().__getattr__(name)

    def _maker(self, word: Any) -> Callable[..., Any]:
        return lambda name, **keywords: make(word, {"name": name, **keywords}, self.where)

    def Design(self, **keywords: Any) -> _Nodes:  # noqa: N802 - the word of recipes
        """Keep a design."""
        self.designs.append(make(model.Design, keywords, self.where))
        return _Nodes()


def designs_of(recipe: Path, shown: str, p: Parameters) -> tuple[model.Design, ...]:
    """Return the designs that a recipe asks for with these parameters.

    Args:
        recipe: the file.
        shown: how it is called in messages.
        p: the parameters, as the recipe sees them.

    Raises:
        RecipeError: it cannot be read this way.
    """
    env = _Environment(Location(shown))
    names = {"env": env, "p": p, "Import": lambda *names: None, "__file__": str(recipe)}  # noqa: ARG005 - SCons's signature
    try:
        exec(compile(recipe.read_text(encoding="utf-8"), shown, "exec"), names)  # noqa: S102 - the user's own recipe
    except AieBuildError:
        raise
    except OSError as error:
        raise RecipeError(f"cannot be read: {error.strerror or error}", Location(shown)) from None
    except (Exception, SystemExit) as error:
        # Whatever the user's own lines raise: a build tells more of it.
        raise RecipeError(f"{type(error).__name__}: {error}", Location(shown)) from None
    return tuple(env.designs)
