"""One run of aiecc as a value that fits into a command line: what the graph knows, before any folder exists."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aiebuild.toolchains.aiecc_dialect import Aiecc, Dialect
from aiebuild.toolchains.aiecc_options import AieccOptions, AieccRequest

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Job:
    """A run of aiecc, with everything that the private work folder will hold.

    Args:
        aiecc: the driver.
        kinds: the outputs that are wanted.
        name: the module's file name in the work folder, without `.mlir`.
        mlir: the module, relative to the project.
        links: the file of each `link_with` name, relative to the project; and what `options.xclbin_input` names.
        toolchain: `peano` or `chess`.
        peano_dir, aietools_dir, xclbinutil, aie_opt: where these are; empty where they are not needed or not there.
        jobs: threads of aiecc's own; never part of a signature.
        stable_uuid: whether the xclbin gets the UUID of its content.
        options: what changes the result.
    """

    aiecc: Aiecc
    kinds: tuple[str, ...]
    name: str
    mlir: str
    links: Mapping[str, str] = field(default_factory=dict)
    toolchain: str = "peano"
    peano_dir: str = ""
    aietools_dir: str = ""
    xclbinutil: str = ""
    aie_opt: str = ""
    jobs: int = 0
    stable_uuid: bool = False
    options: AieccOptions = field(default_factory=AieccOptions)

    def request(self, folder: str, outputs: Mapping[str, str]) -> AieccRequest:
        """Return the request to aiecc, for a work folder and the absolute path of each output."""
        options = self.options
        if options.xclbin_input:
            options = dataclasses.replace(options, xclbin_input=f"{folder}/{options.xclbin_input}")
        return AieccRequest(
            mlir=f"{self.name}.mlir",
            outputs=outputs,
            tmpdir=f"{folder}/aiecc",
            toolchain=self.toolchain,
            peano_dir=self.peano_dir,
            aietools_dir=self.aietools_dir,
            xclbinutil=self.xclbinutil,
            jobs=self.jobs,
            options=options,
        )

    def with_links(self, links: Mapping[str, str]) -> Job:
        """Return the job with the files that the cores link."""
        return dataclasses.replace(self, links=dict(links))

    def to_json(self) -> str:
        """Return the job as one word of a command line."""
        record = {item.name: getattr(self, item.name) for item in dataclasses.fields(self)}
        record["aiecc"] = {
            "path": self.aiecc.path,
            "dialect": self.aiecc.dialect.value,
            "listed": sorted(self.aiecc.listed),
        }
        record["options"] = self.options.said
        return json.dumps(record, separators=(",", ":"), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Job:
        """Return the job that `to_json` wrote."""
        record = json.loads(text)
        driver = record["aiecc"]
        record["aiecc"] = Aiecc(driver["path"], Dialect(driver["dialect"]), listed=frozenset(driver["listed"]))
        options = record["options"]
        if "flags" in options:
            options["flags"] = tuple(options["flags"])
        record["options"] = AieccOptions(**options)
        record["kinds"] = tuple(record["kinds"])
        return cls(**record)
