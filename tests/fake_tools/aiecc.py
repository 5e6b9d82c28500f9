"""Stand-in for `aiecc`, with five personalities: the launcher's constant `@dialect=A|B|C0|C1|C2` says which.

Other constants: `@peano=DIR` is the Peano that it finds by itself, `@lenient` makes B take unknown options in silence
(as it did until mlir-aie #3066), `@measures` makes C2 list `--no-measure-stack-size` (#3723).
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import shutil
import struct
import sys
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import xclbin
from aiecc_flags import CHOICES, GENERATED, PERSONALITIES, SELECTORS, Personality, help_text
from core_link import LinkError, link_core
from module_text import Device, ModuleTextError, Sequence, read_module
from stand_in import begin, constants, litters, told, version_text, write

TOOL = "aiecc"
SHA, BUILT = "3ca0193ce0f4a1b2c3d4", "Aug 14 2026 10:00:00"


class Refused(Exception):  # noqa: N818 - it is the driver's refusal, which ends the stand-in
    """A message, and the exit status."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


@dataclass
class Asked:
    """A command line, understood."""

    values: dict[str, str] = field(default_factory=dict)
    switches: dict[str, bool] = field(default_factory=dict)
    kinds: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)

    def on(self, name: str) -> bool:
        """Return whether a switch was given, and not as `=false`."""
        return self.switches.get(name, False)


def main() -> int:
    """Compile as asked; return the exit status."""
    said = constants()
    personality = PERSONALITIES[said["dialect"]]
    if "measures" in said:
        personality = Personality(
            personality.name,
            personality.values,
            personality.switches | {"no-measure-stack-size", "measure-stack-size"},
            personality.names,
        )
    argv = begin(
        TOOL,
        f"aiecc.py {version_text(SHA)[:9]}"
        if personality.name == "A"
        else "LLVM (http://llvm.org/):\n  LLVM version 23",
    )
    try:
        if answer(personality, argv):
            return 0
        return Run(personality, parse(personality, argv, lenient="lenient" in said), said.get("peano", "")).run()
    except (Refused, ModuleTextError, LinkError) as error:
        sys.stderr.write(f"{error}\n")
        return error.status if isinstance(error, Refused) else 1


def answer(personality: Personality, argv: list[str]) -> bool:
    """Answer a question; return whether there was one."""
    if "--aie-version" in argv and personality.name != "A":
        texts = {
            "B": f"aiecc (C++ version) {version_text('')}\n",
            "C": f"aiecc (mlir-aie declarative driver)\n  git SHA:  {version_text(SHA)}\n  compiled: {BUILT}\n",
        }
        sys.stdout.write(texts[personality.name[0]])
        return True
    if "--help" in argv or "-h" in argv:
        sys.stdout.write(help_text(personality))
        return True
    return False


def parse(personality: Personality, argv: list[str], *, lenient: bool) -> Asked:
    """Return what a command line asks; unknown words are refused as the personality does it."""
    asked = Asked()
    words = iter(argv)
    for word in words:
        if not word.startswith("-"):
            asked.files.append(word)
            continue
        name, equals, value = word.lstrip("-").partition("=")
        if personality.has_selectors and name.startswith("get-"):
            asked.kinds.append(selector(name.removeprefix("get-")))
        elif name in personality.values:
            asked.values[name] = value if equals else next(words, "")
        elif name[:1] in {"j", "O"} and name[1:].isdigit() and name[:1] in personality.values:
            asked.values[name[0]] = name[1:]
        elif name in personality.switches and not (equals and personality.name == "A"):
            asked.switches[name] = value.lower() not in {"false", "0"}
        else:
            unknown(personality, word, asked, lenient=lenient)
    asked.kinds += [GENERATED[name] for name in asked.switches if name in GENERATED and asked.on(name)]
    return asked


def selector(name: str) -> str:
    """Return the kind that C1's and C2's selector stands for."""
    if name not in SELECTORS:
        known = ", ".join(f"--get-{other}" for other in SELECTORS)
        raise Refused(f"aiecc: unknown output '--get-{name}'; known: {known}")
    return SELECTORS[name]


def unknown(personality: Personality, word: str, asked: Asked, *, lenient: bool) -> None:
    """Refuse an option that is not known, or pass over it, as the personality does."""
    if personality.name == "A":
        if asked.files:
            return
        raise Refused(f"aiecc: error: unrecognized arguments: {word}", 2)
    if lenient:
        return
    name = word.partition("=")[0]
    near = difflib.get_close_matches(name, [f"--{other}" for other in personality.values | personality.switches], 1)
    guess = f"  Did you mean '{near[0]}'?" if near else ""
    raise Refused(f"aiecc: Unknown command line argument '{name}'.  Try: 'aiecc --help'{guess}")


def stream(said: bytes, generation: int) -> bytes:
    """Return a well-formed instruction stream (version 0.1) that writes these bytes, word by word.

    Its layout is that of the golden streams, which the real driver made.
    """
    values = struct.unpack(f"<{len(said) // 4}I", said)
    writes = [struct.pack("<6I", 0, 0, 0x200500 + 4 * place, 0, value, 24) for place, value in enumerate(values)]
    body = b"".join(writes)
    return struct.pack("<8B2I", 0, 1, generation, 6, 1, 1, 0, 0, len(writes), 16 + len(body)) + body


class Run:
    """One run of the driver."""

    def __init__(self, personality: Personality, asked: Asked, own_peano: str) -> None:
        self.personality = personality
        self.asked = asked
        self.own_peano = own_peano
        self.file = self._file()
        self.tmpdir = Path(asked.values.get("tmpdir") or f"{self.file.name}.prj")
        self.output = Path(asked.values.get("output-dir", ".")) if personality.is_graph else Path()
        self.written: set[Path] = set()

    def run(self) -> int:
        """Check everything, then write what is asked for."""
        self._check_values()
        self._check_compilers()
        devices = [device for device in read_module(self.file.read_text(), str(self.file)) if self._chosen(device)]
        if not devices:
            raise Refused(f"aiecc: no device '{self.asked.values['device-name']}' in the module")
        if self.asked.on("n"):
            sys.stdout.write("dry run\n")
            return 0
        self.tmpdir.mkdir(parents=True, exist_ok=True)
        if litters():
            Path("main_core_0_2.o").write_bytes(b"litter")
        for device in devices:
            self._make(device)
        if not self.personality.is_graph:
            sys.stdout.write("Compilation completed successfully\n")
        return 0

    def _file(self) -> Path:
        files = self.asked.files
        if not files:
            raise Refused("aiecc: no input file")
        if len(files) > 1 and self.personality.is_graph:
            raise Refused(f"aiecc: more than one input file: {' '.join(files)}")
        path = Path(files[0])
        if not path.is_file() or not path.stat().st_size:
            raise Refused(f"could not open input file '{path}'")
        return path

    def _check_values(self) -> None:
        values = self.asked.values
        for name, choices in CHOICES.items():
            if name in values and values[name] not in choices:
                raise Refused(f"aiecc: for the --{name} option: Cannot find option named '{values[name]}'!")
        if self.asked.on("expand-load-pdis") and self.asked.on("load-pdi-to-ctrl-pkt"):
            raise Refused("aiecc: --expand-load-pdis and --load-pdi-to-ctrl-pkt are mutually exclusive")
        if self.personality.is_graph and "cut" in values and "checkpoint" not in values:
            raise Refused("aiecc: --cut needs --checkpoint")
        if self.personality.is_graph:
            for name in ("peano", "aietools"):
                if values.get(name) and not Path(values[name]).is_dir():
                    raise Refused(f"aiecc: --{name} directory does not exist: {values[name]}")
        if values.get("xclbinutil-path") and not Path(values["xclbinutil-path"]).is_file():
            raise Refused(f"aiecc: xclbinutil not found: {values['xclbinutil-path']}")

    @property
    def chess(self) -> bool:
        """Whether Chess compiles the cores."""
        if self.personality.name == "C2":
            return self.asked.on("xchesscc") or self.asked.on("xbridge")
        return not (self.asked.on("no-xchesscc") and self.asked.on("no-xbridge"))

    @property
    def needs_cores(self) -> bool:
        """Whether cores are compiled and linked."""
        if self.asked.on("no-compile"):
            return False
        if self.personality.is_graph:
            kinds = set(self.asked.kinds) or {"core_elfs"}
            return bool(kinds - {"insts", "elf", "physical_mlir"}) or self._couples
        return True

    @property
    def _couples(self) -> bool:
        return self.asked.on("expand-load-pdis") or self.asked.on("load-pdi-to-ctrl-pkt")

    def _check_compilers(self) -> None:
        values = self.asked.values
        if self.chess:
            folder = values.get("aietools")
            there = (Path(folder) / "bin" / "xchesscc").is_file() if folder else shutil.which("xchesscc")
            if not there:
                raise Refused("Could not find aietools (xchesscc not in PATH)")
            return
        if not self.needs_cores:
            return
        peano = values.get("peano") or self.own_peano
        if not peano:
            raise Refused("Error: Could not find Peano compiler tools")
        if not (Path(peano) / "bin").is_dir():
            raise Refused("opt: error: expected type\nError running Peano opt")

    def _chosen(self, device: Device) -> bool:
        return self.asked.values.get("device-name", "") in {"", device.symbol}

    def _make(self, device: Device) -> None:
        compiler = "chess" if self.chess else "peano"
        look_in = (Path.cwd(), self.tmpdir, self.file.parent)
        cores = [link_core(device, core, look_in, compiler) for core in device.cores] if self.needs_cores else []
        linked = digest(*cores)
        self._intermediates(device, cores)
        kinds = self.asked.kinds or (["core_elfs"] if self.personality.is_graph else [])
        for kind in dict.fromkeys(kinds):
            getattr(self, f"_make_{kind}")(device, linked)

    def _intermediates(self, device: Device, cores: list[bytes]) -> None:
        """Write what the real driver leaves in its folder: A and B everything, C what was on the way."""
        if self.personality.is_graph:
            return
        (self.tmpdir / "input_with_addresses.mlir").write_text(f"// placed\n{device.text}\n")
        for core, program in zip(device.cores, cores, strict=False):
            (self.tmpdir / f"{device.symbol}_core_{core.column}_{core.row}.elf").write_bytes(b"\x7fELF" + program)

    def _make_core_elfs(self, device: Device, linked: bytes) -> None:
        for core in device.cores:
            name = f"elfs_{device.symbol}_core_{core.column}_{core.row}.elf"
            self._write(self.output / name, b"\x7fELF" + digest(linked, name.encode()))

    def _make_insts(self, device: Device, linked: bytes) -> None:
        template = self.asked.values.get("npu-insts-name", self.personality.names["insts"])
        for sequence in self._sequences(device):
            key = f"{device.symbol}_{sequence.name}" if self.personality.is_graph else device.symbol
            name = template.replace("{0}", key).replace("{1}", sequence.name)
            coupled = linked if self._couples else b""
            said = digest(sequence.text.encode(), device.name.encode(), coupled)
            self._write(self._place(name), stream(said, 4 if device.name.startswith("npu2") else 3))

    def _sequences(self, device: Device) -> list[Sequence]:
        wanted = self.asked.values.get("sequence-name", "")
        return [sequence for sequence in device.sequences if wanted in {"", sequence.name}]

    def _make_elf(self, device: Device, linked: bytes) -> None:
        texts = [sequence.text.encode() for sequence in self._sequences(device)]
        name = self.asked.values.get("elf-name", self.personality.names["elf"]).replace("{0}", device.symbol)
        self._write(self._place(name), b"\x7fELF" + digest(b"elf", *texts, linked if self._couples else b""))

    def _make_full_elf(self, device: Device, linked: bytes) -> None:
        name = self.asked.values.get("full-elf-name", "aie.elf")
        self._write(self._place(name), b"\x7fELF" + digest(b"full", device.text.encode(), linked))

    def _make_pdi(self, device: Device, linked: bytes) -> None:
        name = self.asked.values.get("pdi-name", "{0}.pdi").replace("{0}", device.symbol)
        place = self._place(name) if self.personality.is_graph else self.tmpdir / name.lstrip("/")
        self._write(place, b"PDI " + digest(device.text.encode(), linked))

    def _make_cdo(self, device: Device, linked: bytes) -> None:
        folder = self.output / f"cdo_{device.symbol}" if self.personality.is_graph else self.tmpdir
        folder.mkdir(exist_ok=True)
        for part in ("elfs", "init", "enable"):
            self._write(folder / f"{device.symbol}_aie_cdo_{part}.bin", b"CDO " + digest(part.encode(), linked))

    def _make_txn(self, device: Device, linked: bytes) -> None:
        name = self.asked.values.get("txn-name", "{0}_transaction.mlir").replace("{0}", device.symbol)
        place = self._place(name) if self.personality.is_graph or Path(name).is_absolute() else self.tmpdir / name
        self._write(place, f"// transaction {digest(device.text.encode(), linked).hex()}\n".encode())

    def _make_ctrlpkt(self, device: Device, linked: bytes) -> None:
        suffixes = {"ctrlpkt-name": ".bin", "ctrlpkt-dma-seq-name": "_dma_seq.bin", "ctrlpkt-elf-name": ".elf"}
        for option, suffix in suffixes.items():
            name = self.asked.values.get(option, f"{{0}}_ctrlpkt{suffix}").replace("{0}", device.symbol)
            self._write(self._place(name), suffix.encode() + digest(device.text.encode(), linked))

    def _make_physical_mlir(self, device: Device, linked: bytes) -> None:
        folder = self.output if self.personality.has_selectors else self.tmpdir
        self._write(folder / "input_with_addresses.mlir", f"// placed\n{device.text}\n".encode())

    def _make_parameters(self, device: Device, linked: bytes) -> None:
        self._write(self.output / "params.txt", digest(device.text.encode()))

    def _make_xclbin(self, device: Device, linked: bytes) -> None:
        values = self.asked.values
        if told("SILENT", "xclbinutil") or told("FAIL", "xclbinutil"):
            sys.stderr.write("xclbinutil: told to fail\n")  # and the driver goes on, as it was seen to do
            return
        given = values.get("xclbin-input")
        made = xclbin.read(Path(given).read_bytes()) if given else xclbin.Xclbin()
        made.uuid = ""
        pdi = digest(device.text.encode(), linked).hex()
        made.sections["MEM_TOPOLOGY"] = {}
        made.sections.setdefault("AIE_PARTITION", {"pdis": []})["pdis"].append(pdi)
        made.add_kernel(
            {
                "id": values.get("xclbin-kernel-id", "0x901"),
                "name": values.get("xclbin-kernel-name", "MLIR_AIE"),
                "instance": values.get("xclbin-instance-name", "MLIRAIE"),
                "pdi": pdi,
            }
        )
        name = values.get("xclbin-name", self.personality.names["xclbin"]).replace("{0}", device.symbol)
        (self.tmpdir / f"{device.symbol}_kernels.json").write_text(json.dumps(made.kernels, sort_keys=True))
        self._write(self._place(name), made.to_bytes())

    def _place(self, name: str) -> Path:
        return Path(name) if Path(name).is_absolute() else self.output / name

    def _write(self, path: Path, data: bytes) -> None:
        if path in self.written and self.personality.is_graph:
            raise Refused(f"aiecc: produced duplicate output path: {path}")
        self.written.add(path)
        if not path.parent.is_dir():
            raise Refused(f"Error opening output file: {path}: No such file or directory")
        write(TOOL, path, data)
        if litters():
            Path(os.path.basename(path)).write_bytes(data)  # noqa: PTH119 - the name alone, into the working folder


def digest(*parts: bytes) -> bytes:
    """Return one digest of several texts, in order."""
    total = hashlib.sha256()
    for part in parts:
        total.update(hashlib.sha256(part).digest())
    return total.digest()


if __name__ == "__main__":
    sys.exit(main())
