"""Cooperating coroutines, run in turn: who can move does, who waits is woken by what it waits for.

The order depends on the design alone, so two runs are identical.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator


class Waits(Protocol):
    """What a task can yield: it keeps who waits for it, and can say why."""

    waiting: list[Task]

    def why(self) -> str:
        """Return what is waited for, what is there, and who would have to act."""
        ...


class Waitable:
    """Something that tasks wait for."""

    def __init__(self) -> None:
        self.waiting: list[Task] = []

    def wake(self) -> None:
        """Let all who wait try again, in the order in which they came."""
        if self.waiting:
            for task in self.waiting:
                task.ready.append(task)
            # The list itself is shared with others that stand for the same thing.
            self.waiting.clear()


@dataclass(eq=False)
class Task:
    """One coroutine: a core, a DMA, or the host."""

    name: str
    kind: str
    steps: Generator[Waits, None, None]
    ready: deque[Task]
    explain: Callable[[], str] | None = None
    waits_for: Waits | None = None
    done: bool = False
    tile: tuple[int, int] | None = None
    notes: dict[str, Any] = field(default_factory=dict)

    def why(self) -> str:
        """Return what the task waits for."""
        if self.explain is not None:
            return self.explain()
        return self.waits_for.why() if self.waits_for is not None else "has not started"


class Scheduler:
    """All tasks of a run."""

    def __init__(self) -> None:
        self.ready: deque[Task] = deque()
        self.tasks: list[Task] = []
        self.current: Task | None = None

    def add(
        self,
        name: str,
        kind: str,
        steps: Generator[Waits, None, None],
        explain: Callable[[], str] | None = None,
        tile: tuple[int, int] | None = None,
    ) -> Task:
        """Add a task; it runs when its turn comes."""
        task = Task(name, kind, steps, self.ready, explain, tile=tile)
        self.tasks.append(task)
        self.ready.append(task)
        return task

    def run(self, trace: Callable[[dict[str, object]], None] | None = None) -> None:
        """Run until nothing can move any more. What a task raises is raised here; `current` is that task.

        With a `trace`, it is told when a task has to wait, for what, and when it goes on.
        """
        ready = self.ready
        while ready:
            task = self.current = ready.popleft()
            if trace is not None and task.waits_for is not None:
                trace({"who": task.name.removeprefix("the "), "event": "goes on"})
            try:
                waits = next(task.steps)
            except StopIteration:
                task.done, task.waits_for = True, None
                continue
            task.waits_for = waits
            waits.waiting.append(task)
            if trace is not None:
                trace({"who": task.name.removeprefix("the "), "event": "waits", "for": task.why()})
        self.current = None

    def of_kind(self, kind: str) -> Iterator[Task]:
        """Yield the tasks of one kind, in the order in which they were added."""
        return (task for task in self.tasks if task.kind == kind)
