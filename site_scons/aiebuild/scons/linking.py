"""From the values that a design links to files, and the steps that make them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiebuild import flow, model
from aiebuild.errors import RecipeError, ToolchainError, did_you_mean
from aiebuild.flow_mlir import MlirFlow, MlirKernel
from aiebuild.flow_objects import plan_archive, plan_object
from aiebuild.scons.builders import add_planned
from aiebuild.scons.sources import find_member_sources, find_source, located, prebuilt_file
from aiebuild.toolchains.discover import require
from aiebuild.toolchains.mixing import mixed, mixing_hint
from aiebuild.toolchains.mlir_tools import NoMlirTools, core_commands, host_commands, translator_of
from aiebuild.toolchains.peano import target_of

if TYPE_CHECKING:
    from aiebuild.errors import Location
    from aiebuild.scons.session import Session
    from aiebuild.scons.words import Configuration
    from aiebuild.toolchains.compiler import Toolchain
    from aiebuild.toolchains.python import PythonTool


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
        self._refuse_mixing(item.toolchain, f"Prebuilt {item.name!r}", item.where)
        return prebuilt_file(item, self.configuration.arch, self._folder(item), self.session.root)

    def describe(self, item: model.Linkable) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the sources of an object or archive, and the words that it is compiled with, in their order."""
        arch, folder, root = self.configuration.arch, self._folder(item), self.session.root
        if isinstance(item, model.Prebuilt):
            return (prebuilt_file(item, arch, folder, root),), ()
        flags = (
            *self.toolchain.default_flags,
            *(f"-D{name}" if value is None else f"-D{name}={value}" for name, value in item.defines),
            *(f"-I{located(name, folder, root)}" for name in item.include_dirs),
            *item.flags,
        )
        if isinstance(item, model.CoreArchive):
            return find_member_sources(item, arch, folder, root), flags
        if item.text is not None:
            return (), flags
        return (find_source(item, arch, folder, root),), () if item.is_mlir else flags

    def import_of(self, item: model.Linkable) -> str:
        """Return the module to import instead of linking a kernel, where nothing here compiles it; else empty."""
        if not isinstance(item, model.CoreObject) or not item.is_mlir or self.configuration.arch != "host":
            return ""
        if self._mlir_flow().commands is not None:
            return ""
        return self._mlir_kernel(item)

    def _mlir_kernel(self, item: model.CoreObject) -> str:
        source = find_source(item, self.configuration.arch, self._folder(item), self.session.root)
        parts = [source, item.outline, item.functions, item.link_name, self.toolchain.name, self.configuration.mode]
        kernel = MlirKernel(
            source=source,
            functions=item.functions,
            outline=item.outline,
            link_name=item.link_name,
            base=f"{self._objects}/{Path(source).stem}-{model.digest_key(parts)}",
            origin=flow.Origin(item.where, f"CoreObject {item.name!r}"),
        )
        steps, file = self._mlir_flow().plan(kernel)
        for planned in steps:
            add_planned(self.env, planned)
        return file

    def _mlir_flow(self) -> MlirFlow:
        """Return what compiles MLIR for this arch; without MLIR's own tools nothing does on the host, which is said."""
        mode, mlir = self.configuration.mode, self.session.python("mlir")
        if self.configuration.arch != "host":
            return self._core_flow(mode, mlir)
        tools = self.session.mlir_tools()
        if isinstance(tools, NoMlirTools):
            self.session.warn(f"kernels that are MLIR are translated to Python, which is slow: {tools.notice}")
            return MlirFlow(mlir, self.toolchain, None)
        commands = partial(host_commands, tools, mode=mode)
        return MlirFlow(mlir, self.toolchain, commands, tools.identity, native=self.session.native_reader())

    def _core_flow(self, mode: str, mlir: PythonTool) -> MlirFlow:
        try:
            aie_opt = require("aie-opt", self.session.places)
            translator = translator_of(aie_opt)
        except ToolchainError as error:
            if not self.session.only_shows:
                raise
            aie_opt, translator = "<mlir_aie>/bin/aie-opt", "<mlir_aie>/bin/aie-translate"
            refused = str(error)
        else:
            refused = self.toolchain.missing
        commands = partial(
            core_commands,
            aie_opt,
            translator,
            self.toolchain.compiler,
            target=target_of(self.toolchain.arch),
            mode=mode,
        )
        programs = self.session.fingerprints.of_all((aie_opt, translator))
        native = flow.NativeReader(("--aie-opt", aie_opt), self.session.fingerprints.of_all((aie_opt,)))
        identity = f"{self.toolchain.identity} {programs}"
        return MlirFlow(mlir, self.toolchain, commands, identity, refused, core=True, native=native)

    def _refuse_mixing(self, compiler: str, word: str, where: Location | None) -> None:
        """Refuse what one compiler of cores made in a design of the other; the host links neither."""
        linker = self.toolchain.name
        if compiler and self.configuration.arch != "host" and compiler != linker:
            raise RecipeError(mixed(word, compiler, linker), where, mixing_hint(compiler))

    def _object(self, item: model.CoreObject) -> str:
        if item.is_mlir:
            self._refuse_mixing("peano", f"the MLIR of CoreObject {item.name!r}", item.where)
            return self._mlir_kernel(item)
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
        add_planned(self.env, plan_archive(self.toolchain, members, output, origin))
        return output

    def compilation(self, item: model.CoreObject | model.CoreArchive, source: str) -> model.Compilation:
        """Return how a source of an object or archive is compiled: what its key is made of."""
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
            include_dirs=tuple(self._include_dir(name, item) for name in item.include_dirs),
            renames=single.renames if single else (),
            inline=single.functions if single and stays_ir else (),
        )

    def _include_dir(self, name: str, item: model.CoreObject | model.CoreArchive) -> str:
        """Return an include folder; one that a design names and that is missing is said.

        It is no error, and nothing is said of objects made by hand: a step of the user's own may make the folder.
        """
        found = located(name, self._folder(item), self.session.root)
        path = self.session.root / found
        made = found.startswith(f"{self.session.build_dir}/") or not self.configuration.design
        if not path.is_dir() and not made:
            beside = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
            hint = did_you_mean(path.name, beside)
            word = f"{type(item).__name__} {item.name!r}"
            self.session.warn(f"{item.where}: {word}: include_dirs: {found} is no folder{f' ({hint})' if hint else ''}")
        return found

    def _compile(self, compilation: model.Compilation, origin: flow.Origin) -> str:
        output = f"{self._objects}/{compilation.object_name}"
        for planned in plan_object(compilation, self.toolchain, output, origin):
            add_planned(self.env, planned)
        return output

    @property
    def _objects(self) -> str:
        return f"{self.session.build_dir}/{self.configuration.arch}/objects"

    def _folder(self, item: model.Linkable) -> Path:
        """Return the folder that a value's own relative paths start from: that of the file that made it."""
        return self.session.folder_of(item.where.file) if item.where else self.session.root
