"""From the values that a design links to files, and the steps that make them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiebuild import flow, model
from aiebuild.scons.builders import add_planned
from aiebuild.scons.sources import find_member_sources, find_source, located, prebuilt_file

if TYPE_CHECKING:
    from aiebuild.scons.session import Session
    from aiebuild.scons.words import Configuration
    from aiebuild.toolchains.compiler import Toolchain


@dataclass(frozen=True)
class Linker:
    """Turns what a design links into files, and plans the steps that make them."""

    env: Any
    session: Session
    configuration: Configuration
    toolchain: Toolchain

    def build(self, item: model.Linkable) -> str:
        """Return the file of an object or archive, relative to the project."""
        if isinstance(item, model.CoreObject):
            return self._object(item)
        if isinstance(item, model.CoreArchive):
            return self._archive(item)
        return prebuilt_file(item, self.configuration.arch, self._folder(item), self.session.root)

    def _object(self, item: model.CoreObject) -> str:
        source = item.text
        if source is None:
            source = find_source(item, self.configuration.arch, self._folder(item), self.session.root)
        compilation = self.compilation(item, source)
        return self._compile(compilation, flow.Origin(item.where, f"CoreObject {item.name!r}"))

    def _archive(self, item: model.CoreArchive) -> str:
        origin = flow.Origin(item.where, f"CoreArchive {item.name!r}")
        sources = find_member_sources(item, self.configuration.arch, self._folder(item), self.session.root)
        members = tuple(self._compile(self.compilation(item, source), origin) for source in sources)
        key = model.digest_key(members)
        output = f"{self._objects}/lib{item.name}-{key}.a"
        add_planned(self.env, flow.plan_archive(self.toolchain, members, output, origin))
        return output

    def compilation(self, item: model.CoreObject | model.CoreArchive, source: str) -> model.Compilation:
        """Return how a source of an object or archive is compiled: what its key is made of."""
        folder = self._folder(item)
        single = item if isinstance(item, model.CoreObject) else None
        stays_ir = single is not None and single.inline and self.configuration.arch != "host"
        return model.Compilation(
            toolchain=self.toolchain.name,
            arch=self.toolchain.arch,
            mode=self.configuration.mode,
            source=source,
            is_text=single is not None and single.text is not None,
            flags=item.flags,
            defines=item.defines,
            include_dirs=tuple(located(name, folder, self.session.root) for name in item.include_dirs),
            renames=single.renames if single else (),
            inline=single.functions if single and stays_ir else (),
        )

    def _compile(self, compilation: model.Compilation, origin: flow.Origin) -> str:
        output = f"{self._objects}/{compilation.object_name}"
        for planned in flow.plan_object(compilation, self.toolchain, output, origin):
            add_planned(self.env, planned)
        return output

    @property
    def _objects(self) -> str:
        return f"{self.session.build_dir}/{self.configuration.arch}/objects"

    def _folder(self, item: model.Linkable) -> Path:
        """Return the folder that a value's own relative paths start from: that of the file that made it."""
        return self.session.root / Path(item.where.file).parent if item.where else self.session.root
