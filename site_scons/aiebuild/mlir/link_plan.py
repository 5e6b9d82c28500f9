"""What linking will do, worked out before anything is changed: what comes along, where to, and under which name."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aiebuild.mlir.identity import key_of
from aiebuild.mlir.link_checks import all_equal, captured_values, is_seen_between, unknown_tables
from aiebuild.mlir.link_names import ORIGIN, Naming, read_origin
from aiebuild.mlir.link_source import Import, Source, described, same_types, shown
from aiebuild.mlir.problems import Problem
from aiebuild.mlir.symbols import (
    is_declaration,
    is_private,
    scoped_uses,
    symbol_name,
    symbols,
    tables,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aiebuild.mlir.ir import Module, Op

Item = tuple["Source", str]
"""A symbol of a source."""


@dataclass(eq=False)
class Plan:
    """All that linking will do, and what is wrong with it."""

    table: Op
    imports: list[Import] = field(default_factory=list)
    renamed_in_main: list[tuple[Op, str, str]] = field(default_factory=list)
    completed: list[tuple[Op, str, str]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)

    def names_of(self, source: Source) -> dict[str, str]:
        """Return old to new names of what a source defines, those in the target table before those in others."""
        found: dict[str, str] = {}
        for each in sorted(self.imports, key=lambda each: each.table is not self.table):
            if each.source.key == source.key:
                for name, new in each.names.items():
                    if name in source.symbols and not is_declaration(source.symbols[name]):
                        found.setdefault(name, new)
        return found

    def emitted(self, source: Source) -> bool:
        """Tell whether a source brings anything."""
        return any(each.ops for each in self.imports if each.source is source)


def make_plan(
    main: Module, sources: Sequence[Source], naming: Naming, entry: str | None, *, table: Op | None, needed_only: bool
) -> Plan:
    """Work out what linking will do; see `aiebuild.mlir.link.link`."""
    target = table or main.op
    plan = Plan(target)
    unique = list({source.key: source for source in reversed(sources)}.values())[::-1]
    for each in (target, *(other for other in tables(main) if other is not target)):
        if each is target or each.body:
            _TablePlan(plan, main, each, unique, naming).work_out(
                entry, whole=each is target and not needed_only, asked=each is target
            )
    for source in unique:
        plan.warnings += unknown_tables(source)
    for brought in plan.imports:
        plan.problems += captured_values(brought)
    return plan


class _TablePlan:
    """What linking does to one table."""

    def __init__(self, plan: Plan, main: Module, table: Op, sources: Sequence[Source], naming: Naming) -> None:
        self._plan, self._main, self._table = plan, main, table
        self._sources, self._naming = sources, naming
        self._there = symbols(table)
        self._origins = {
            origin: symbol_name(op) or ""
            for op in table.body
            if (origin := read_origin(op.attributes.get(ORIGIN))) is not None
        }
        self._imports = {source: Import(source, table) for source in sources}
        self._items: dict[Item, None] = {}
        self._brought: dict[str, tuple[Source, Op]] = {}
        self._aliases: list[tuple[Source, str, Item]] = []

    def work_out(self, entry: str | None, *, whole: bool, asked: bool) -> None:
        """Add to the plan what goes to this table.

        Args:
            entry: what is called of each source.
            whole: whether all of each source comes along.
            asked: whether the entries are called in this table.
        """
        wanted = [(owner, name) for name in self._demands() if (owner := self._exporter(name)) is not None]
        plain = {name for _, name in wanted}
        for source in self._sources:
            if whole or (asked and not self._is_library(source, entry)):
                wanted += [(source, name) for name in source.symbols] if whole else [(source, entry or "")]
                self._loose(source)
        self._close(wanted, plain)

    def _is_library(self, source: Source, entry: str | None) -> bool:
        return entry is None or entry not in source.symbols

    def _loose(self, source: Source) -> None:
        """Bring the ops that have no name, and what they need."""
        if (source.key, "") in self._origins:
            return
        self._imports[source].ops += source.loose
        for op in source.loose:
            for name in source.needs[op]:
                self._need(source, name)

    # --- what comes along ---

    def _demands(self) -> Iterator[str]:
        """Yield names that the table declares or uses, but that nothing in it defines."""
        seen: set[str] = set()
        for name, op in self._there.items():
            if is_declaration(op) and op.get("link_with") is None:
                seen.add(name)
                yield name
        for use in scoped_uses(self._table):
            name = use.path[0]
            if name not in self._there and name not in seen and not is_seen_between(use.op, self._table, name):
                seen.add(name)
                yield name

    def _exporter(self, name: str) -> Source | None:
        """Return the source that defines a name for others; an error if there are two."""
        owners = [source for source in self._sources if source.exports(name)]
        if len(owners) > 1 and not (self._naming.merge and all_equal([o.symbols[name] for o in owners])):
            self._duplicate(name, [(source.module, source.symbols[name]) for source in owners])
        return owners[0] if owners else None

    def _close(self, wanted: list[Item], plain: set[str]) -> None:
        """Bring these and all that they need; then name them."""
        for item in wanted:
            self._need(*item)
        waiting = list(self._items)
        for source, name in waiting:
            before = len(self._items)
            for needed in source.needs[source.symbols[name]]:
                self._need(source, needed)
            if len(self._items) > before:
                waiting += list(self._items)[before:]
        self._name(plain)
        for each in self._imports.values():
            each.ops.sort(key=_positions(each.source).__getitem__)
            if each.ops or each.names:
                self._plan.imports.append(each)

    def _need(self, source: Source, name: str) -> None:
        """Bring a name that a source uses."""
        op = source.symbols.get(name)
        if op is not None and not is_declaration(op):
            self._items.setdefault((source, name))
            return
        external = op is not None and op.get("link_with") is not None
        there = self._there.get(name)
        if there is not None:
            if op is not None:
                self._agree(source, op, there, self._main)
            if not is_declaration(there) or op is None:
                return
        owner = None if external else self._exporter(name)
        if owner is not None and owner is not source:
            if op is not None:
                self._agree(source, op, owner.symbols[name], owner.module)
            self._items.setdefault((owner, name))
            self._aliases.append((source, name, (owner, name)))
        elif op is not None and there is None:
            self._bring_declaration(source, name, op)

    def _bring_declaration(self, source: Source, name: str, op: Op) -> None:
        """Bring a declaration once, whichever source it comes from."""
        first = self._brought.get(name)
        if first is None:
            self._brought[name] = (source, op)
            self._imports[source].ops.append(op)
        elif first[1] is not op:
            self._agree(source, op, first[1], first[0].module)

    # --- names ---

    def _name(self, plain: set[str]) -> None:
        """Give each thing that comes along its name."""
        fresh: dict[str, list[Source]] = defaultdict(list)
        for source, name in self._items:
            known = self._origins.get((source.key, name))
            if known is not None:
                self._imports[source].names[name] = known
            elif name in plain and source.exports(name):
                self._fill(source, name)
            else:
                fresh[name].append(source)
        for name, owners in fresh.items():
            self._name_fresh(name, owners)
        for source, name, (owner, theirs) in self._aliases:
            self._imports[source].names[name] = self._imports[owner].names[theirs]

    def _fill(self, source: Source, name: str) -> None:
        """Let a definition take the place of a declaration, or of a name that is used without one."""
        op, each = source.symbols[name], self._imports[source]
        declaration = self._there.get(name)
        each.names[name] = name
        each.ops.append(op)
        if declaration is not None:
            self._agree(source, op, declaration, self._main)
            each.fills[op] = declaration

    def _name_fresh(self, name: str, owners: list[Source]) -> None:
        """Name all new definitions of one name."""
        public = [source for source in owners if source.exports(name)]
        private = [source for source in owners if source not in public]
        way = self._naming.way
        if way == "hash":
            for source in owners:
                self._take(source, name, f"{name}_{source.key}")
            return
        if way == "namespace":
            for source in public:
                space = self._naming.space or symbol_name(source.module.op) or source.key
                self._take(source, name, f"{space}.{name}")
            public = []
        elif public:
            public = self._keep_public(name, public)
        crowded = len(private) + len(public) > 1 or name in self._there or name in self._brought
        for source in private:
            self._take(source, name, f"{name}_{source.key}" if crowded else name)

    def _keep_public(self, name: str, public: list[Source]) -> list[Source]:
        """Let the one public definition have its name; the main module's private one gives way."""
        there = self._there.get(name)
        rivals = [(source.module, source.symbols[name]) for source in public]
        if there is not None and not is_private(there):
            rivals.insert(0, (self._main, there))
        first, *others = public
        if len(rivals) > 1 and not (self._naming.merge and all_equal([op for _, op in rivals])):
            self._duplicate(name, rivals)
            return public
        if rivals[0][1] is there:
            others = public
        elif there is not None and not is_declaration(there):
            self._plan.renamed_in_main.append((self._table, name, f"{name}_{key_of(self._main)}"))
            self._take(first, name, name, freed=True)
        else:
            self._take(first, name, name, freed=there is not None)
        for source in others:
            self._imports[source].names[name] = name
        return public

    def _take(self, source: Source, name: str, new: str, *, freed: bool = False) -> None:
        """Let a definition come along under a name."""
        if new in self._there and not freed:
            self._duplicate(new, [(self._main, self._there[new]), (source.module, source.symbols[name])])
        self._imports[source].names[name] = new
        self._imports[source].ops.append(source.symbols[name])

    # --- agreement ---

    def _agree(self, source: Source, op: Op, other: Op, module: Module) -> None:
        """Check that two ops of one name, of which one at least is a declaration, mean one thing."""
        name = symbol_name(op)
        where = source.module.where(op)
        if op.name != other.name or not same_types(op, other):
            message = (
                f"@{name} is {shown(op)} in {source.label}, but {shown(other)} in {module.file or 'the main module'}"
            )
            hint = f"the other one is at {module.where(other)}"
            self._plan.problems.append(Problem("E-LINK-TYPE", message, where, hint))
            return
        mine, theirs = described(op), described(other)
        for entry in sorted(mine.keys() & theirs.keys()):
            if mine[entry] != theirs[entry]:
                theirs_at = f"{theirs[entry]} at {module.where(other)}"
                message = f"@{name} has {entry} = {mine[entry]} in {source.label}, but {theirs_at}"
                self._plan.problems.append(Problem("E-LINK-DECL", message, where, "make them equal, or remove one"))
        if module is self._main and is_declaration(op):
            self._plan.completed += [(other, entry, mine[entry]) for entry in sorted(mine.keys() - theirs.keys())]

    def _duplicate(self, name: str, owners: Sequence[tuple[Module, Op]]) -> None:
        """Report definitions of one name that cannot both have it."""
        (first, op), *others = owners
        module, other = others[0]
        message = f"@{name} is defined in {first.file or 'the main module'} and in {module.file or 'another module'}"
        hint = f"at {first.where(op)} and at {module.where(other)}: make one private, or use names=hash"
        self._plan.problems.append(Problem("E-LINK-DUP", message, module.where(other), hint))


def _positions(source: Source) -> dict[Op, int]:
    """Return the position of each op at a module's level."""
    return {op: number for number, op in enumerate(source.module.op.body)}
