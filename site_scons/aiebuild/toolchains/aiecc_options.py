"""What is asked of aiecc, as values: which outputs, of which device and sequence, with which options."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING

from aiebuild.errors import AieBuildBug, RecipeError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from aiebuild.errors import Location

KINDS = {
    "xclbin": "the configuration and its kernels, as XRT loads them",
    "insts": "the instruction stream of a runtime sequence",
    "pdi": "the configuration alone, as the firmware loads it",
    "elf": "an insts ELF: the instruction stream wrapped in an ELF",
    "full_elf": "configurations and control code in one ELF",
    "cdo": "the configuration as CDO files, in a folder",
    "txn": "the configuration as a transaction, in MLIR",
    "ctrlpkt": "the configuration as control packets",
    "core_elfs": "the cores' programs, in a folder",
    "physical_mlir": "the placed and routed module, with addresses",
}
"""What a design may ask for, and what it is."""

FOLDERS = frozenset({"cdo", "core_elfs"})
"""Kinds that are several files: the path of such an output is a folder."""

FROM_THE_MODULE = frozenset({"insts", "elf", "physical_mlir"})
"""Kinds that need no core: aiecc makes them from the module alone, unless an option couples them."""

ALLOC_SCHEMES = ("basic-sequential", "bank-aware")
PLACERS = ("sequential_placer", "sa_placer")
KERNEL_IDS = range(1, 0x10000)
DEFAULT_KERNEL_NAME, DEFAULT_INSTANCE_NAME, DEFAULT_KERNEL_ID = "MLIR_AIE", "MLIRAIE", 0x901
"""What aiecc gives an xclbin kernel where nothing is said, in every dialect."""


@dataclass(frozen=True)
class AieccOptions:
    """Options that change what aiecc makes; each one left at its default says nothing, and aiecc decides.

    Args:
        alloc_scheme: how buffers are put into memory: `basic-sequential` or `bank-aware`.
        dynamic_objfifos: whether loops over object FIFOs stay loops.
        packet_sw_objfifos: whether object FIFOs share streams by packets.
        opt_level: 0 to 3, for the code of the cores.
        placer: `sequential_placer` or `sa_placer`.
        sa_seed: of `sa_placer`; 0 gives another placement in each run, so such a result is never cached.
        cores_per_col: the most cores that the placer uses in a column.
        bf16_emulation: whether f32 vector arithmetic is done in bf16.
        fold_ddr_addr_offset: whether offsets are folded into the addresses that the host patches.
        unified: whether all cores are compiled as one object.
        expand_load_pdis: whether a load of a PDI becomes explicit writes.
        load_pdi_to_ctrl_pkt: whether a load of a PDI becomes control packets.
        ctrl_pkt_overlay: whether routes for control packets are added.
        materialize: whether runtime sequences of other devices are made part of the one that calls them.
        measure_stack: whether the stacks of the cores are measured before buffers are placed (after 2026-08).
        xclbin_kernel_name, xclbin_instance_name, xclbin_kernel_id: what XRT opens; `MLIR_AIE`, `MLIRAIE`, 0x901.
        xclbin_input: the xclbin that this design's kernel is added to.
        flags: further arguments, verbatim and in order.
    """

    alloc_scheme: str | None = None
    dynamic_objfifos: bool | None = None
    packet_sw_objfifos: bool | None = None
    opt_level: int | None = None
    placer: str | None = None
    sa_seed: int | None = None
    cores_per_col: int | None = None
    bf16_emulation: bool | None = None
    fold_ddr_addr_offset: bool | None = None
    unified: bool | None = None
    expand_load_pdis: bool | None = None
    load_pdi_to_ctrl_pkt: bool | None = None
    ctrl_pkt_overlay: bool | None = None
    materialize: bool | None = None
    measure_stack: bool | None = None
    xclbin_kernel_name: str | None = None
    xclbin_instance_name: str | None = None
    xclbin_kernel_id: int | None = None
    xclbin_input: str | None = None
    flags: tuple[str, ...] = ()

    @property
    def said(self) -> dict[str, object]:
        """The options that say something, by name, in the order of the fields."""
        values = {item.name: getattr(self, item.name) for item in dataclasses.fields(self)}
        return {name: value for name, value in values.items() if value is not None and value != ()}

    @property
    def is_deterministic(self) -> bool:
        """Whether the same inputs give the same result: not with a seed of 0, which stands for a random one."""
        return self.sa_seed != 0 and not any(re.fullmatch(r"--?sa-seed(=0)?", flag) for flag in self.flags)


def make_options(values: Mapping[str, object], where: Location | None = None) -> AieccOptions:
    """Return the options that a recipe names.

    Raises:
        RecipeError: for a name that is no option (with the nearest one), a value of a wrong type, one that is not
            among the choices or out of range, or two that exclude each other.
    """
    known = {item.name: str(item.type) for item in dataclasses.fields(AieccOptions)}
    settled: dict[str, object] = {}
    for name, value in values.items():
        if name not in known:
            raise RecipeError(f"aiecc has no option {name!r}", where, did_you_mean(name, known))
        settled[name] = _settle(name, known[name], value, where)
    options = AieccOptions(**settled)  # type: ignore[arg-type] # each value was just checked against its field
    _check_together(options, where)
    return options


def _settle(name: str, type_text: str, value: object, where: Location | None) -> object:
    if name == "flags":
        return _settle_flags(value, where)
    if value is None:
        return None
    wanted = {"bool": bool, "int": int, "str": str}[type_text.split(" ", 1)[0]]
    if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
        raise RecipeError(f"{name} is {_ARTICLES[wanted]}, not {value!r}", where)
    _check_value(name, value, where)
    return value


_ARTICLES = {bool: "True or False", int: "a whole number", str: "a text"}


def _settle_flags(value: object, where: Location | None) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, (list, tuple)):
        raise RecipeError(f"flags is a list of texts, not {value!r}", where, f"flags=[{value!r}]")
    if not all(isinstance(item, str) for item in value):
        raise RecipeError(f"flags is a list of texts, not {value!r}", where)
    owned = next((flag for flag in value if flag.split("=", 1)[0] in OWN_FLAGS), None)
    if owned is not None:
        hint = "outputs, folders and tools are the build's affair: ask for them with outputs= and options"
        raise RecipeError(f"flags may not have {owned}", where, hint)
    return tuple(value)


OWN_FLAGS = frozenset(
    {
        *("--tmpdir", "--output-dir", "--peano", "--aietools", "-j", "--nthreads", "-n", "--xclbin-name"),
        *("--npu-insts-name", "--pdi-name", "--elf-name", "--full-elf-name", "--txn-name", "--ctrlpkt-name"),
        *("--xchesscc", "--no-xchesscc", "--xbridge", "--no-xbridge", "--device-name", "--sequence-name"),
    }
)
"""Arguments that the build itself gives: with another one from a recipe, aiecc would write where no node is."""


def _check_value(name: str, value: object, where: Location | None) -> None:
    choices = {"alloc_scheme": ALLOC_SCHEMES, "placer": PLACERS}.get(name)
    if choices is not None and value not in choices:
        raise RecipeError(f"{name} {value!r} is not a choice", where, f"one of: {', '.join(choices)}")
    ranges = {
        "opt_level": range(4),
        "sa_seed": range(2**31),
        "cores_per_col": range(1, 65),
        "xclbin_kernel_id": KERNEL_IDS,
    }
    allowed = ranges.get(name)
    if allowed is not None and value not in allowed:
        raise RecipeError(f"{name} {value} is out of range", where, f"{allowed.start} to {allowed.stop - 1}")


def _check_together(options: AieccOptions, where: Location | None) -> None:
    if options.expand_load_pdis and options.load_pdi_to_ctrl_pkt:
        message = "expand_load_pdis and load_pdi_to_ctrl_pkt exclude each other"
        raise RecipeError(message, where, "a load of a PDI becomes writes, or control packets, not both")
    if options.sa_seed is not None and options.placer == "sequential_placer":
        raise RecipeError("sa_seed has no effect on sequential_placer", where, 'placer="sa_placer"')


def check_kinds(kinds: Iterable[str], where: Location | None = None) -> tuple[str, ...]:
    """Return the kinds of outputs that a design asks for, in the order of the table above, none twice.

    Raises:
        RecipeError: for one that does not exist (with the nearest one).
    """
    asked = tuple(kinds)
    for kind in asked:
        if kind not in KINDS:
            raise RecipeError(f"a design has no output {kind!r}", where, did_you_mean(kind, KINDS))
    return tuple(kind for kind in KINDS if kind in asked)


@dataclass(frozen=True)
class AieccRequest:
    """One run of aiecc.

    Args:
        mlir: the module: custom text, relative to the folder that aiecc runs in, or absolute.
        outputs: the absolute path of each kind that is wanted; a folder for kinds of several files. The names may
            have no `{` in them: aiecc would put a device's name there.
        tmpdir: the folder for its intermediate files, absolute: private to this run, and empty.
        device_name: the symbol of the device in the module; `main` where it has none.
        sequence: the runtime sequence that insts are wanted of; None stands for the only one.
        toolchain: what compiles the cores: `peano` or `chess`.
        peano_dir, aietools_dir, xclbinutil: where these are, absolute; empty to let aiecc look.
        jobs: threads of aiecc's own; 0 to say nothing. Never part of a signature.
        options: what changes the result.
    """

    mlir: str
    outputs: Mapping[str, str]
    tmpdir: str
    device_name: str = "main"
    sequence: str | None = None
    toolchain: str = "peano"
    peano_dir: str = ""
    aietools_dir: str = ""
    xclbinutil: str = ""
    jobs: int = 0
    options: AieccOptions = field(default_factory=AieccOptions)

    def __post_init__(self) -> None:
        """Refuse what only a fault of ours could ask for."""
        if not self.outputs:
            raise AieBuildBug("a run of aiecc that makes nothing")
        unknown = sorted(set(self.outputs) - set(KINDS))
        if unknown:
            raise AieBuildBug(f"aiecc makes no {unknown[0]}")
        for path in (self.tmpdir, *self.outputs.values()):
            if not PurePath(path).is_absolute():
                raise AieBuildBug(f"aiecc needs absolute paths, not {path}")

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds that are wanted, in the order of the table."""
        return tuple(kind for kind in KINDS if kind in self.outputs)
