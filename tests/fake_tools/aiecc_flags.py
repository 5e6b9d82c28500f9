"""The arguments that each personality of aiecc takes, as the programs list them; independent of what is under test.

A and B: both at mlir-aie c668d2cb6, B with what its later versions added; C0: the declarative driver with B's names;
C2: 3ca0193ce, where outputs are chosen by `--get-<name>`; C1: as C2, and Chess is the default.
"""

from __future__ import annotations

from dataclasses import dataclass, field


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


VALUES = _names(
    "alloc-scheme device-name sequence-name npu-insts-name xclbin-name xclbin-kernel-name xclbin-instance-name "
    "xclbin-kernel-id xclbin-input pdi-name elf-name full-elf-name txn-name ctrlpkt-name ctrlpkt-dma-seq-name "
    "ctrlpkt-elf-name tmpdir peano opt-level host-target sysroot repeater-output-dir O j"
)
SWITCHES = _names(
    "dynamic-objFifos packet-sw-objFifos generate-ctrl-pkt-overlay expand-load-pdis xchesscc xbridge unified "
    "no-unified no-materialize verbose v n profile progress enable-repeater-scripts disable-repeater-scripts"
)
GENERATE = _names(
    "aie-generate-cdo aie-generate-ctrlpkt aie-generate-elf aie-generate-npu-insts aie-generate-pdi aie-generate-txn "
    "aie-generate-xclbin generate-full-elf"
)
STAGES = _names("compile no-compile link no-link compile-host no-compile-host aiesim no-aiesim")
NO_CHESS = frozenset({"no-xchesscc", "no-xbridge"})
PLACEMENT = frozenset({"placer", "sa-seed", "cores-per-col"})
GRAPH_VALUES = _names("output-dir emit-dot get g cut checkpoint resume I L l o nthreads aietools")

SELECTORS = {
    "xclbin": "xclbin",
    "npu-insts": "insts",
    "pdi": "pdi",
    "elf": "elf",
    "full-elf": "full_elf",
    "cdo": "cdo",
    "txn": "txn",
    "ctrlpkt": "ctrlpkt",
    "input-with-addresses": "physical_mlir",
    "scratchpad-parameters": "parameters",
    "core-elfs": "core_elfs",
    "locmap": "locmap",
    "aiesim": "aiesim",
    "host": "host",
}
"""C1's and C2's `--get-<name>`, and the kind of output that it stands for."""

GENERATED = {
    "aie-generate-xclbin": "xclbin",
    "aie-generate-npu-insts": "insts",
    "aie-generate-pdi": "pdi",
    "aie-generate-elf": "elf",
    "generate-full-elf": "full_elf",
    "aie-generate-cdo": "cdo",
    "aie-generate-txn": "txn",
    "aie-generate-ctrlpkt": "ctrlpkt",
    "aie-generate-input-with-addresses": "physical_mlir",
}

CHOICES = {
    "alloc-scheme": ("basic-sequential", "bank-aware"),
    "placer": ("sequential_placer", "sa_placer"),
    "opt-level": ("0", "1", "2", "3"),
}


@dataclass(frozen=True)
class Personality:
    """What one dialect takes: options with a value, switches, and whether outputs are chosen by `--get-<name>`."""

    name: str
    values: frozenset[str]
    switches: frozenset[str]
    names: dict[str, str] = field(default_factory=dict)

    @property
    def is_graph(self) -> bool:
        """Whether it is the declarative driver."""
        return self.name.startswith("C")

    @property
    def has_selectors(self) -> bool:
        """Whether it has `--get-<name>`."""
        return self.name in {"C1", "C2"}


def _graph_names() -> dict[str, str]:
    return {"xclbin": "aie.xclbin", "insts": "insts_{0}.bin", "elf": "design.elf"}


OLD_NAMES = {"xclbin": "{0}.xclbin", "insts": "{0}_{1}.bin", "elf": "design.elf"}
NEW_B = PLACEMENT | {"bf16-emulation", "keep-loc"}
NEW_SWITCHES = frozenset({"bf16-emulation", "fold-ddr-addr-offset", "load-pdi-to-ctrl-pkt", "no-progress"})

PERSONALITIES = {
    "A": Personality(
        "A",
        VALUES,
        SWITCHES | GENERATE | STAGES | NO_CHESS | {"link_against_hsa", "vectorize", "version", "help", "h"},
        OLD_NAMES | {"elf": "design_{0}.elf"},
    ),
    "B": Personality(
        "B",
        VALUES | PLACEMENT | {"aietools", "nthreads", "o", "I", "L", "l"},
        SWITCHES
        | GENERATE
        | STAGES
        | NO_CHESS
        | {"aie-version", "dump-intermediates", "bf16-emulation", "keep-loc", "link_against_hsa", "help"},
        OLD_NAMES,
    ),
    "C0": Personality(
        "C0",
        VALUES | PLACEMENT | GRAPH_VALUES | {"get-key"},
        SWITCHES
        | GENERATE
        | STAGES
        | NO_CHESS
        | {"aie-version", "bf16-emulation", "keep-loc", "help"}
        | {"aie-generate-input-with-addresses", "emit-scratchpad-parameters"},
        _graph_names(),
    ),
    "C1": Personality(
        "C1",
        VALUES | PLACEMENT | GRAPH_VALUES | {"xclbinutil-path"},
        SWITCHES | NO_CHESS | NEW_SWITCHES | {"aie-version", "dump-intermediates", "help"},
        _graph_names(),
    ),
    "C2": Personality(
        "C2",
        VALUES | PLACEMENT | GRAPH_VALUES | {"xclbinutil-path"},
        SWITCHES | NEW_SWITCHES | {"aie-version", "dump-intermediates", "help"},
        _graph_names(),
    ),
}


def help_text(personality: Personality) -> str:
    """Return what `--help` prints: every option, never the selectors, which are expanded before options are read."""
    short = [name for name in sorted(personality.values | personality.switches) if len(name) == 1]
    long = sorted((personality.values | personality.switches) - set(short))
    value = " VALUE" if personality.name == "A" else "=<value>"
    lines = [f"  -{name}{'<n>' if name in personality.values else ''}" for name in short]
    lines += [f"  --{name}{value if name in personality.values else ''}" for name in long]
    first = "usage: aiecc [-h]" if personality.name == "A" else "OVERVIEW: AIE compiler driver\n\nOPTIONS:"
    return "\n".join([first, *lines]) + "\n"
