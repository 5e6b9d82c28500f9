"""aiebuild: one build graph from NPU kernels to artifacts that can be deployed, or run on this machine."""

__version__ = "0.1.0"

TYPE_CHECKING = False  # the name is what type checkers know; importing typing takes 8 ms
if TYPE_CHECKING:
    from aiebuild.built import BuildError, Built
    from aiebuild.project import Project, Status

_HOMES = {"Project": "project", "Status": "project", "Built": "built", "BuildError": "built"}
"""The modules of the names that a program imports from here; loaded where they are asked for, a build needs none."""

__all__ = ["BuildError", "Built", "Project", "Status", "__version__"]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib  # noqa: PLC0415 - a build that has nothing to do does not need it

    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
