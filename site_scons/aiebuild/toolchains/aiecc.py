"""The only place that spells an argument of aiecc: from a request to the argv of each dialect, and what each can do.

The names are those of mlir-aie at c668d2cb6 (A, B), of its declarative driver with `--aie-generate-…` (C0), and at
3ca0193ce (C2). `SPELLINGS` and `OUTPUTS` are the whole table; a dialect that is in neither cannot do it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from aiebuild.errors import ToolchainError
from aiebuild.toolchains.aiecc_dialect import Dialect
from aiebuild.toolchains.aiecc_options import FROM_THE_MODULE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from aiebuild.errors import Location
    from aiebuild.toolchains.aiecc_options import AieccOptions, AieccRequest

Command = tuple[str, ...]
Dialects = frozenset[Dialect]

A, B, C0, C1, C2 = Dialect
EVERY = frozenset(Dialect)
SINCE_B = EVERY - {A}
SINCE_C0 = frozenset({C0, C1, C2})
SELECTORS = frozenset({C1, C2})


@dataclass(frozen=True)
class Output:
    """How a kind of output is asked for.

    Args:
        generate: the argument of A, B and C0; empty where they leave it in the folder of intermediate files anyway.
        get: the selector of C1 and C2.
        name: the option that takes its path, empty where there is none.
        dialects: those that can make it.
        unplaced: dialects that put it into the folder of intermediate files, whatever path they are given.
    """

    generate: str
    get: str
    name: str = ""
    dialects: Dialects = EVERY
    unplaced: Dialects = frozenset()


OUTPUTS = {
    "xclbin": Output("--aie-generate-xclbin", "--get-xclbin", "--xclbin-name"),
    "insts": Output("--aie-generate-npu-insts", "--get-npu-insts", "--npu-insts-name"),
    "pdi": Output("--aie-generate-pdi", "--get-pdi", "--pdi-name", unplaced=frozenset({A, B})),
    "elf": Output("--aie-generate-elf", "--get-elf", "--elf-name"),
    # The last of A's commits had it too; which of them did is not known, and aiecc says nothing that tells.
    "full_elf": Output("--generate-full-elf", "--get-full-elf", "--full-elf-name", dialects=SINCE_B),
    "cdo": Output("--aie-generate-cdo", "--get-cdo", unplaced=EVERY),
    "txn": Output("--aie-generate-txn", "--get-txn", "--txn-name"),
    "ctrlpkt": Output("--aie-generate-ctrlpkt", "--get-ctrlpkt", "--ctrlpkt-name"),
    # C0 leaves no core ELFs behind when it makes something else, and has no name for them that is known to us.
    "core_elfs": Output("", "--get-core-elfs", dialects=EVERY - {C0}, unplaced=EVERY),
    "physical_mlir": Output("", "--get-input-with-addresses", unplaced=EVERY),
}
C0_PHYSICAL = "--aie-generate-input-with-addresses"


def _value(flag: str) -> Callable[[Dialect, object], Command]:
    return lambda _dialect, value: (f"{flag}={value}",)


def _switch(flag: str) -> Callable[[Dialect, object], Command]:
    """A switch that is on when it is there; A, whose switches take no value, has it off where it is not there."""

    def spell(dialect: Dialect, value: object) -> Command:
        if value:
            return (flag,)
        return () if dialect is A else (f"{flag}=false",)

    return spell


def _unified(dialect: Dialect, value: object) -> Command:
    if value:
        return ("--unified",)
    # B compiles each core on its own unless it is told otherwise, and its first versions know no --no-unified.
    return () if dialect is B else ("--no-unified",)


def _materialize(_dialect: Dialect, value: object) -> Command:
    return () if value else ("--no-materialize",)


def _measure_stack(_dialect: Dialect, value: object) -> Command:
    return () if value else ("--no-measure-stack-size",)


@dataclass(frozen=True)
class Spelling:
    """How an option of ours is spelt, and by which dialects it is known."""

    spell: Callable[[Dialect, object], Command]
    dialects: Dialects = EVERY


SPELLINGS = {
    "alloc_scheme": Spelling(_value("--alloc-scheme")),
    "dynamic_objfifos": Spelling(_switch("--dynamic-objFifos")),
    "packet_sw_objfifos": Spelling(_switch("--packet-sw-objFifos")),
    "opt_level": Spelling(_value("--opt-level")),
    "placer": Spelling(_value("--placer"), SINCE_B),
    "sa_seed": Spelling(_value("--sa-seed"), SINCE_B),
    "cores_per_col": Spelling(_value("--cores-per-col"), SINCE_B),
    "bf16_emulation": Spelling(_switch("--bf16-emulation"), SINCE_B),
    "fold_ddr_addr_offset": Spelling(_switch("--fold-ddr-addr-offset"), SELECTORS),
    "unified": Spelling(_unified),
    "expand_load_pdis": Spelling(_switch("--expand-load-pdis")),
    "load_pdi_to_ctrl_pkt": Spelling(_switch("--load-pdi-to-ctrl-pkt"), SELECTORS),
    "ctrl_pkt_overlay": Spelling(_switch("--generate-ctrl-pkt-overlay")),
    "materialize": Spelling(_materialize),
    "measure_stack": Spelling(_measure_stack, frozenset({C2})),
    "xclbin_kernel_name": Spelling(_value("--xclbin-kernel-name")),
    "xclbin_instance_name": Spelling(_value("--xclbin-instance-name")),
    "xclbin_kernel_id": Spelling(lambda _dialect, value: (f"--xclbin-kernel-id={value:#x}",)),
    "xclbin_input": Spelling(_value("--xclbin-input")),
}

COUPLED = {
    "expand_load_pdis": "a load of a PDI becomes writes, which hold the cores' programs",
    "load_pdi_to_ctrl_pkt": "a load of a PDI becomes control packets, which hold the cores' programs",
}
"""Options that make an instruction stream depend on the cores, and why."""

OF_CORES = frozenset({"opt_level", "unified", "bf16_emulation"})
OF_XCLBINS = frozenset(name for name in SPELLINGS if name.startswith("xclbin_"))
"""Options that say nothing to a run that compiles no core, or makes no xclbin: left out there, so that a change of
them does not make it run again."""

MEASURES = "--measure-stack-size"


def check(
    dialect: Dialect,
    aiecc: str,
    kinds: Iterable[str],
    options: AieccOptions,
    *,
    listed: frozenset[str] = frozenset(),
    where: Location | None = None,
) -> list[ToolchainError]:
    """Return what this aiecc cannot do of what is asked.

    Args:
        dialect: how its arguments are spelt.
        aiecc: its path, for messages.
        kinds: the outputs that are wanted.
        options: what is asked of it.
        listed: the options that its `--help` lists; empty where that is not known. Versions of one dialect differ,
            and some take in silence what they do not know.
        where: the line of the recipe.
    """
    wanted = [(kind, OUTPUTS[kind].dialects) for kind in kinds]
    wanted += [(name, SPELLINGS[name].dialects) for name in options.said if name in SPELLINGS]
    errors = [
        ToolchainError(f"{name} needs aiecc {_needed(dialects)}; {aiecc} is {dialect}", where, _advice(dialects))
        for name, dialects in wanted
        if dialect not in dialects
    ]
    if errors or not listed:
        return errors
    spelt = [(name, word) for name in options.said if name in SPELLINGS for word in _spell(dialect, options, name)]
    return [
        ToolchainError(f"{name} needs {_flag(word)}, which {aiecc} --help does not list", where, UPGRADE)
        for name, word in spelt
        if _flag(word) not in listed
    ]


UPGRADE = "leave it out, or install a later mlir-aie"


def _needed(dialects: Dialects) -> str:
    """Return `dialect B or later` for all from B on, else the dialects by name."""
    first = next(dialect for dialect in Dialect if dialect in dialects)
    after = list(Dialect)[list(Dialect).index(first) :]
    if dialects == set(after):
        return f"dialect {first} or later" if len(after) > 1 else f"dialect {first}"
    names = [str(dialect) for dialect in Dialect if dialect in dialects]
    return f"dialect {', '.join(names[:-1])} or {names[-1]}"


def _advice(dialects: Dialects) -> str:
    return UPGRADE if C2 in dialects else "leave it out"


def couplings(options: AieccOptions, listed: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """Return why an instruction stream depends on the cores' programs here; empty where it does not.

    Where it does, the step that makes insts has the linked objects as sources, as the step of the xclbin has.
    """
    reasons = [f"{name}: {why}" for name, why in COUPLED.items() if getattr(options, name)]
    reasons += [f"{flag}: {COUPLED[name]}" for flag in options.flags if (name := _option_of(flag)) in COUPLED]
    measures = options.measure_stack or (options.measure_stack is None and _measures(listed))
    if measures:
        reasons.append("measure_stack: where buffers are put depends on the cores' stacks, which are measured")
    return tuple(reasons)


def _measures(listed: frozenset[str]) -> bool:
    return MEASURES in listed or "--no-measure-stack-size" in listed


def _option_of(flag: str) -> str:
    name, _, value = flag.partition("=")
    return "" if value.lower() in {"false", "0"} else name.lstrip("-").replace("-", "_")


def needs_cores(request: AieccRequest, listed: frozenset[str] = frozenset()) -> bool:
    """Return whether aiecc has to compile and link the cores for a request."""
    return not FROM_THE_MODULE.issuperset(request.kinds) or bool(couplings(request.options, listed))


def command(
    dialect: Dialect,
    aiecc: str,
    request: AieccRequest,
    *,
    listed: frozenset[str] = frozenset(),
    where: Location | None = None,
) -> Command:
    """Return the argv of a request.

    Args:
        dialect: how this aiecc spells its arguments.
        aiecc: its path.
        request: what is wanted.
        listed: the options that its `--help` lists; empty where that is not known.
        where: the line of the recipe, for errors.

    Raises:
        ToolchainError: this aiecc cannot do it: the first of what `check` returns.
    """
    errors = check(dialect, aiecc, request.kinds, request.options, listed=listed, where=where)
    if errors:
        raise errors[0]
    cores = needs_cores(request, listed)
    return (
        aiecc,
        *(word for kind in request.kinds for word in _ask_for(dialect, request, kind)),
        *_driver(dialect, request, cores=cores),
        f"--tmpdir={request.tmpdir}",
        *((f"--output-dir={request.tmpdir}",) if dialect.is_declarative else ()),
        *_selection(request),
        *(word for name in _saying(request, cores=cores) for word in _spell(dialect, request.options, name)),
        *request.options.flags,
        *_threads(request, listed, cores=cores),
        request.mlir,
    )


def verify_command(aie_opt: str, mlir: str, output: str) -> Command:
    """Return the argv that has `aie-opt` verify a module before aiecc reads it.

    Without an output it would print the module; `output` belongs into the private folder of the step.
    """
    return (aie_opt, mlir, "-o", output)


def signature_command(dialect: Dialect, request: AieccRequest, *, listed: frozenset[str] = frozenset()) -> Command:
    """Return what of an argv belongs into a signature: not where things are, and not the number of threads.

    The programs are told apart by their identities, outputs and the module by the graph.
    """
    plain = replace(
        request,
        mlir="<mlir>",
        outputs={kind: f"/{kind}" for kind in request.kinds},
        tmpdir="/work",
        peano_dir=request.peano_dir and "<peano>",
        aietools_dir=request.aietools_dir and "<aietools>",
        xclbinutil=request.xclbinutil and "<xclbinutil>",
        options=replace(request.options, xclbin_input=request.options.xclbin_input and "<xclbin>"),
        jobs=0,
    )
    return (dialect.value, *command(dialect, "aiecc", plain, listed=listed)[1:])


def _ask_for(dialect: Dialect, request: AieccRequest, kind: str) -> Command:
    output = OUTPUTS[kind]
    word = output.get if dialect.has_selectors else output.generate
    if kind == "physical_mlir" and dialect is C0:
        word = C0_PHYSICAL
    words = (word,) if word else ()
    if not output.name:
        return words
    path = request.outputs[kind]
    name = PurePosixPath(path).name if dialect in output.unplaced else path
    return (*words, f"{output.name}={name}", *(_packets(request) if kind == "ctrlpkt" else ()))


def _packets(request: AieccRequest) -> Command:
    """Return the places of what comes with control packets; left unsaid, it would be written into the cwd."""
    return (f"--ctrlpkt-dma-seq-name={packet_sequence(request)}", f"--ctrlpkt-elf-name={request.tmpdir}/ctrlpkt.elf")


def packet_sequence(request: AieccRequest) -> str:
    """Return the path of the instruction stream that sends the control packets, beside them."""
    path = PurePosixPath(request.outputs["ctrlpkt"])
    return str(path.with_name(f"{path.name.removesuffix('.bin')}.dma_seq.bin"))


def _driver(dialect: Dialect, request: AieccRequest, *, cores: bool) -> Command:
    """Return what chooses the compiler of the cores, and keeps host programs and unneeded cores from being compiled."""
    chess = cores and request.toolchain == "chess"
    words: list[str] = [] if dialect.has_selectors else ["--no-compile-host"]
    if chess:
        words += ["--xchesscc", "--xbridge"]
        words += ["--unified"] if request.options.unified is None else []
        words += [f"--aietools={request.aietools_dir}"] if request.aietools_dir and dialect is not A else []
    elif dialect.prefers_chess:
        words += ["--no-xchesscc", "--no-xbridge"]
    if cores and not chess and request.peano_dir:
        words.append(f"--peano={request.peano_dir}")
    if not cores and not dialect.has_selectors:
        words.append("--no-compile")
    if request.xclbinutil and "xclbin" in request.kinds and dialect.has_selectors:
        words.append(f"--xclbinutil-path={request.xclbinutil}")
    return tuple(words)


def _selection(request: AieccRequest) -> Command:
    device = () if request.device_name == "main" else (f"--device-name={request.device_name}",)
    sequence = () if request.sequence is None else (f"--sequence-name={request.sequence}",)
    return (*device, *sequence)


def _saying(request: AieccRequest, *, cores: bool) -> list[str]:
    """Return the options that say something to this run."""
    silent = (frozenset() if cores else OF_CORES) | (frozenset() if "xclbin" in request.kinds else OF_XCLBINS)
    return [name for name in request.options.said if name in SPELLINGS and name not in silent]


def _spell(dialect: Dialect, options: AieccOptions, name: str) -> Command:
    return SPELLINGS[name].spell(dialect, options.said[name])


def _threads(request: AieccRequest, listed: frozenset[str], *, cores: bool) -> Command:
    """Return `-jN`; the first versions of B have no such option, and what compiles no core has no use for it."""
    if not request.jobs or not cores or (listed and "-j" not in listed):
        return ()
    return (f"-j{request.jobs}",)


def _flag(word: str) -> str:
    return word.partition("=")[0]


def path_folders(dialect: Dialect, request: AieccRequest) -> tuple[str, ...]:
    """Return the folders that must stand first on PATH for aiecc to find its tools: what no argument can say."""
    folders: list[str] = []
    if request.xclbinutil and not dialect.has_selectors:
        folders.append(str(PurePosixPath(request.xclbinutil).parent))
    if request.aietools_dir and request.toolchain == "chess" and dialect is A:
        folders.append(f"{request.aietools_dir}/bin")
    return tuple(folders)
