"""Stand-in for Peano's `clang++`: the host's compiler reads the source, the target is written into the object.

The real preprocessor gives real depfiles and real errors; the object has the host's code, the array's machine number,
and a section that names the target, so that objects for two targets differ and say which they are for.
Constants: `@refuse=aie2p` for a Peano without that target, `@clang=19.1.0` for another version.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from host_compiler import make_object, symbols
from stand_in import begin, constants, spoil, version_text, write

TOOL = "clang++"
ARCHES = ("aie2", "aie2p")
ENDING = "-none-unknown-elf"


def main() -> int:
    """Compile as asked; return the exit status."""
    said = constants()
    version = f"clang version {said.get('clang', '21.0.0')} (stand-in {version_text('1')})"
    argv = begin(TOOL, f"{version}\nTarget: x86_64-unknown-linux-gnu\nThread model: posix")
    known = [arch for arch in ARCHES if arch != said.get("refuse")]
    if "--print-targets" in argv:
        sys.stdout.write("  Registered Targets:\n" + "".join(f"    {arch:<10} - AI Engine\n" for arch in known))
        return 0
    target = next((word.partition("=")[2] for word in argv if word.startswith("--target=")), None)
    if target is not None and target not in {arch + ENDING for arch in known}:
        sys.stderr.write(f"error: unknown target triple '{target}'\n")
        return 1
    arch = (target or "").removesuffix(ENDING)
    kept = for_the_host(argv)
    if "ir" in argv:
        return assemble(argv)
    if "-emit-llvm" in argv:
        return emit_text(kept, arch)
    if "-c" not in argv or not arch:
        return subprocess.run(["g++", *kept], check=False).returncode
    output = Path(argv[argv.index("-o") + 1])
    status = make_object(kept, output, arch, "peano")
    if status == 0:
        spoil(TOOL, output)
    return status


def for_the_host(argv: list[str]) -> list[str]:
    """Return the arguments without what only Clang knows."""
    kept: list[str] = []
    words = iter(argv)
    for word in words:
        if word in {"-Xclang", "-mllvm"}:
            next(words, None)
        elif not word.startswith(("--target=", "-fuse-ld=", "-emit-llvm")):
            kept.append(word)
    return kept


def emit_text(argv: list[str], arch: str) -> int:
    """Write LLVM IR that defines what the source exports; a digest of the code stands for it."""
    output = Path(argv[argv.index("-o") + 1])
    with tempfile.TemporaryDirectory() as folder:
        obj = Path(folder, "x.o")
        argv[argv.index("-o") + 1] = str(obj)
        argv[argv.index("-S")] = "-c"
        if "-MD" in argv and "-MT" not in argv:
            argv += ["-MT", str(output)]
        status = subprocess.run(["g++", *argv], check=False).returncode
        if status != 0:
            return status
        digest = hashlib.sha256(obj.read_bytes()).hexdigest()
        names = sorted(name for kind, name in symbols(obj) if kind == "T")
    lines = [f'target triple = "{arch}{ENDING}"', f"; code {digest}", ""]
    for name in names:
        lines += [f"define dso_local void @{name}(ptr noundef %0) local_unnamed_addr #0 {{", "  ret void", "}", ""]
    lines += ["attributes #0 = { mustprogress nounwind }", ""]
    write(TOOL, output, "\n".join(lines).encode())
    return 0


def assemble(argv: list[str]) -> int:
    """Write bitcode: LLVM's magic number, then the text; of a file with IR, an object that defines what it defines."""
    files = [word for word in argv if word.endswith(".ll")]
    if files:
        return compile_ir(Path(files[0]), argv)
    text = sys.stdin.buffer.read()
    write(TOOL, Path(argv[argv.index("-o") + 1]), b"BC\xc0\xde" + text)
    return 0


def compile_ir(source: Path, argv: list[str]) -> int:
    """Write the object of a kernel that is LLVM IR; the digest of its text stands for its code."""
    text = source.read_text()
    names = re.findall(r"^define void @(\w+)\(", text, re.MULTILINE)
    digest = hashlib.sha256(text.encode()).hexdigest()
    code = "".join(f'extern "C" void {name}() {{ asm volatile("# {digest}"); }}\n' for name in names)
    code += f'static const char *what __attribute__((used)) = "{digest}";\n'
    target = next(word.partition("=")[2] for word in argv if word.startswith("--target="))
    output = Path(argv[argv.index("-o") + 1])
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "x.cc")
        made.write_text(code)
        return make_object(["-c", str(made), "-o", str(output)], output, target.removesuffix(ENDING), "peano")


if __name__ == "__main__":
    sys.exit(main())
