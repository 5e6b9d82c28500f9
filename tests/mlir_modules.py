"""Made-up functions with stages, for tests that compare numbers: the same seed gives the same function."""

from __future__ import annotations

import random

N = 4
BUFFER = f"memref<{N}x{N}xi32>"
DYNAMIC = f"memref<?x{N}xi32>"
ID = "affine_map<(d0, d1) -> (d0, d1)>"
FLAGS = "<{overflowFlags = #arith.overflow<none>}>"


class Maker:
    """One function `@<name>(A, B, C)` on buffers of 4x4 numbers; results are left in C."""

    def __init__(self, seed: int, name: str) -> None:
        self.random = random.Random(seed)
        self.name = name
        self.lines: list[str] = []
        self.stages: list[str] = []
        self.nested: list[str] = []
        self.buffers = ["%A", "%B"]
        self.scalars: list[str] = []
        self.indices = ["%c0", "%c1", "%c2"]
        self.allocated: list[tuple[str, str]] = []
        self.count = 0

    def text(self) -> str:
        """Return the module."""
        for number in range(3):
            self.lines.append(f'%c{number} = "arith.constant"() <{{value = {number} : index}}> : () -> index')
        self.lines.append(f'%c{N} = "arith.constant"() <{{value = {N} : index}}> : () -> index')
        self._constant()
        self._load()
        for _ in range(self.random.randint(4, 7)):
            for _ in range(self.random.randint(0, 2)):
                self.random.choice([self._constant, self._scalar, self._load, self._apply, self._view])()
            self._stage()
        self._finish()
        body = "\n    ".join(self.lines)
        return f"""\
"builtin.module"() ({{
  "func.func"() <{{function_type = ({BUFFER}, {BUFFER}, {BUFFER}) -> (), sym_name = "{self.name}"}}> ({{
  ^bb0(%A: {BUFFER}, %B: {BUFFER}, %C: {BUFFER}):
    {body}
    "func.return"() : () -> ()
  }}) : () -> ()
}}) : () -> ()
"""

    def requests(self) -> list[str | tuple[str, str]]:
        """Return one to three requests, single ones and ranges."""
        made: list[str | tuple[str, str]] = []
        for _ in range(self.random.randint(1, 3)):
            kind = self.random.random()
            if kind < 0.3 and self.nested:
                made.append(self.random.choice(self.nested))
            elif kind < 0.6:
                made.append(self.random.choice(self.stages))
            else:
                first, last = sorted(self.random.sample(range(len(self.stages)), 2))
                made.append((self.stages[first], self.stages[last]))
        return made

    # --- plain ops ---

    def _new(self, prefix: str = "v") -> str:
        self.count += 1
        return f"%{prefix}{self.count}"

    def _constant(self) -> None:
        value = self._new()
        number = self.random.randint(2, 9)
        self.lines.append(f'{value} = "arith.constant"() <{{value = {number} : i32}}> : () -> i32')
        self.scalars.append(value)

    def _scalar(self) -> None:
        value, one, other = self._new(), self.random.choice(self.scalars), self.random.choice(self.scalars)
        self.lines.append(f'{value} = "arith.subi"({one}, {other}) {FLAGS} : (i32, i32) -> i32')
        self.scalars.append(value)

    def _load(self) -> None:
        value, buffer = self._new(), self.random.choice(self.buffers)
        i, j = self.random.choice(["%c0", "%c1", "%c2"]), self.random.choice(["%c0", "%c1", "%c2"])
        self.lines.append(f'{value} = "memref.load"({buffer}, {i}, {j}) : ({BUFFER}, index, index) -> i32')
        self.scalars.append(value)

    def _apply(self) -> None:
        value, index = self._new("n"), self.random.choice(["%c0", "%c1"])
        self.lines.append(
            f'{value} = "affine.apply"({index}) <{{map = affine_map<(d0) -> (d0 + 1)>}}> : (index) -> index'
        )
        self.indices.append(value)

    def _view(self) -> None:
        """A view of some buffer, through which a scalar is read: views may be made in a part and used after it."""
        view, value, buffer = self._new("w"), self._new(), self.random.choice(self.buffers)
        self.lines.append(f'{view} = "memref.cast"({buffer}) : ({BUFFER}) -> {DYNAMIC}')
        self.lines.append(f'{value} = "memref.load"({view}, %c1, %c2) : ({DYNAMIC}, index, index) -> i32')
        self.scalars.append(value)

    def _target(self) -> str:
        """Return a buffer to write: the output, one that is there, or a new one, which must be written wholly."""
        kind = self.random.random()
        if kind < 0.25:
            return "%C"
        written = [name for name in self.buffers if name not in ("%A", "%B")]
        if kind < 0.45 and written:
            return self.random.choice(written)
        name = self._new("buf")
        if self.random.random() < 0.3:
            raw = self._new("dyn")
            self.lines.append(
                f'{raw} = "memref.alloc"(%c{N}) <{{operandSegmentSizes = array<i32: 1, 0>}}> : (index) -> {DYNAMIC}'
            )
            self.lines.append(f'{name} = "memref.cast"({raw}) : ({DYNAMIC}) -> {BUFFER}')
            self.allocated.append((raw, DYNAMIC))
        else:
            kind_ = self.random.choice(["alloc", "alloc", "alloca"])
            self.lines.append(
                f'{name} = "memref.{kind_}"() <{{operandSegmentSizes = array<i32: 0, 0>}}> : () -> {BUFFER}'
            )
            if kind_ == "alloc":
                self.allocated.append((name, BUFFER))
        return name

    # --- stages ---

    def _stage(self) -> None:
        target = self._target()
        stage = f"s{len(self.stages)}"
        kinds = [self._affine, self._affine, self._nested, self._scf, self._fill, self._copy, self._vector]
        if target in self.buffers or target == "%C":
            kinds += [self._sum, self._branch]
        self.random.choice(kinds)(target, stage)
        self.stages.append(stage)
        if target not in self.buffers and target != "%C":
            self.buffers.append(target)

    def _loop(self, iv: str, body: list[str], attributes: str = "") -> list[str]:
        maps = (
            "lowerBoundMap = affine_map<() -> (0)>, operandSegmentSizes = array<i32: 0, 0, 0>, "
            f"step = 1 : index, upperBoundMap = affine_map<() -> ({N})>"
        )
        shown = f" {{{attributes}}}" if attributes else ""
        return [
            f'"affine.for"() <{{{maps}}}> ({{',
            f"^bb0({iv}: index):",
            *[f"  {line}" for line in body],
            '  "affine.yield"() : () -> ()',
            f"}}){shown} : () -> ()",
        ]

    def _element(self, i: str, j: str, target: str) -> list[str]:
        a, b, p, q = (self._new() for _ in range(4))
        one, other = self.random.choice(self.buffers), self.random.choice(self.buffers)
        scalar = self.random.choice(self.scalars)
        op = self.random.choice(["addi", "subi", "muli"])
        return [
            f'{a} = "affine.load"({one}, {i}, {j}) <{{map = {ID}}}> : ({BUFFER}, index, index) -> i32',
            f'{b} = "affine.load"({other}, {j}, {i}) <{{map = {ID}}}> : ({BUFFER}, index, index) -> i32',
            f'{p} = "arith.{op}"({a}, {b}) {FLAGS} : (i32, i32) -> i32',
            f'{q} = "arith.addi"({p}, {scalar}) {FLAGS} : (i32, i32) -> i32',
            f'"affine.store"({q}, {target}, {i}, {j}) <{{map = {ID}}}> : (i32, {BUFFER}, index, index) -> ()',
        ]

    def _affine(self, target: str, stage: str) -> None:
        i, j = self._new("i"), self._new("j")
        inner = self._loop(j, self._element(i, j, target))
        self.lines += self._loop(i, inner, f'loop_name = "i", stage_name = "{stage}"')

    def _nested(self, target: str, stage: str) -> None:
        """A stage with a stage inside, which uses the loop's variable and a value that is made beside it."""
        i, j, s = self._new("i"), self._new("j"), self._new()
        name = f"{stage}_inner"
        self.nested.append(name)
        k = self._new("k")
        element = self._element(i, j, target)
        beside = [f'{k} = "affine.apply"({i}) <{{map = affine_map<(d0) -> (d0)>}}> : (index) -> index']
        inner = self._loop(j, element, f'stage_name = "{name}"')
        after = [
            f'{s} = "affine.load"({target}, {k}, {i}) <{{map = {ID}}}> : ({BUFFER}, index, index) -> i32',
            f'"affine.store"({s}, {target}, {i}, {k}) <{{map = {ID}}}> : (i32, {BUFFER}, index, index) -> ()',
        ]
        self.lines += self._loop(i, [*beside, *inner, *after], f'op_name = "{stage}"')

    def _scf(self, target: str, stage: str) -> None:
        i, j, value, scaled = self._new("i"), self._new("j"), self._new(), self._new()
        source, scalar = self.random.choice(self.buffers), self.random.choice(self.scalars)
        self.lines += [
            f'"scf.for"(%c0, %c{N}, %c1) ({{',
            f"^bb0({i}: index):",
            f'  "scf.for"(%c0, %c{N}, %c1) ({{',
            f"  ^bb0({j}: index):",
            f'    {value} = "memref.load"({source}, {i}, {j}) : ({BUFFER}, index, index) -> i32',
            f'    {scaled} = "arith.muli"({value}, {scalar}) {FLAGS} : (i32, i32) -> i32',
            f'    "memref.store"({scaled}, {target}, {i}, {j}) : (i32, {BUFFER}, index, index) -> ()',
            '    "scf.yield"() : () -> ()',
            "  }) : (index, index, index) -> ()",
            '  "scf.yield"() : () -> ()',
            f'}}) {{stage_name = "{stage}"}} : (index, index, index) -> ()',
        ]

    def _fill(self, target: str, stage: str) -> None:
        scalar, one, two = self.random.choice(self.scalars), self._new(), self._new()
        self.lines += [
            f'"linalg.fill"({scalar}, {target}) <{{operandSegmentSizes = array<i32: 1, 1>}}> ({{',
            f"^bb0({one}: i32, {two}: i32):",
            f'  "linalg.yield"({one}) : (i32) -> ()',
            f'}}) {{stage_name = "{stage}"}} : (i32, {BUFFER}) -> ()',
        ]

    def _copy(self, target: str, stage: str) -> None:
        source = self.random.choice([each for each in self.buffers if each != target])
        self.lines.append(f'"memref.copy"({source}, {target}) {{stage_name = "{stage}"}} : ({BUFFER}, {BUFFER}) -> ()')

    def _vector(self, target: str, stage: str) -> None:
        i, v, w, zero = self._new("i"), self._new(), self._new(), self._new()
        source = self.random.choice(self.buffers)
        shape = "in_bounds = [true], permutation_map = affine_map<(d0, d1) -> (d1)>, operandSegmentSizes = array<i32:"
        entries, out = f"{shape} 1, 2, 1, 0>", f"{shape} 1, 1, 2, 0>"
        self.lines.append(f'{zero} = "arith.constant"() <{{value = 0 : i32}}> : () -> i32')
        vector = f"vector<{N}xi32>"
        read = f"({BUFFER}, index, index, i32) -> {vector}"
        body = [
            f'{v} = "vector.transfer_read"({source}, {i}, %c0, {zero}) <{{{entries}}}> : {read}',
            f'{w} = "arith.addi"({v}, {v}) {FLAGS} : ({vector}, {vector}) -> {vector}',
            f'"vector.transfer_write"({w}, {target}, {i}, %c0) <{{{out}}}> : ({vector}, {BUFFER}, index, index) -> ()',
        ]
        self.lines += self._loop(i, body, f'stage_name = "{stage}"')

    def _sum(self, target: str, stage: str) -> None:
        """A loop with a result, which is used after it."""
        i, value, total, carried, result = self._new("i"), self._new(), self._new(), self._new(), self._new()
        first, source = self.random.choice(self.scalars), self.random.choice(self.buffers)
        index = self.random.choice(["%c0", "%c1", "%c2"])
        self.lines += [
            f'{result} = "scf.for"(%c0, %c{N}, %c1, {first}) ({{',
            f"^bb0({i}: index, {carried}: i32):",
            f'  {value} = "memref.load"({source}, {i}, {index}) : ({BUFFER}, index, index) -> i32',
            f'  {total} = "arith.addi"({carried}, {value}) {FLAGS} : (i32, i32) -> i32',
            f'  "scf.yield"({total}) : (i32) -> ()',
            f'}}) {{stage_name = "{stage}"}} : (index, index, index, i32) -> i32',
        ]
        self.scalars.append(result)
        del target

    def _branch(self, target: str, stage: str) -> None:
        """A branch with a result that writes on one side."""
        one, other = self.random.choice(self.scalars), self.random.choice(self.scalars)
        test, result = self._new(), self._new()
        self.lines += [
            f'{test} = "arith.cmpi"({one}, {other}) <{{predicate = 2 : i64}}> : (i32, i32) -> i1',
            f'{result} = "scf.if"({test}) ({{',
            f'  "memref.store"({one}, {target}, %c1, %c1) : (i32, {BUFFER}, index, index) -> ()',
            f'  "scf.yield"({one}) : (i32) -> ()',
            "}, {",
            f'  "scf.yield"({other}) : (i32) -> ()',
            f'}}) {{stage_name = "{stage}"}} : (i1) -> i32',
        ]
        self.scalars.append(result)

    def _finish(self) -> None:
        """Use everything late: each buffer and each scalar has a part in C."""
        total = self._new()
        self.lines.append(f'{total} = "arith.constant"() <{{value = 1 : i32}}> : () -> i32')
        for number, scalar in enumerate(self.scalars[-8:]):
            value = self._new()
            op = "addi" if number % 2 else "muli"
            self.lines.append(f'{value} = "arith.{op}"({total}, {scalar}) {FLAGS} : (i32, i32) -> i32')
            total = value
        for buffer in self.buffers:
            if self.random.random() < 0.3:
                i, j, a, c, s = self._new("i"), self._new("j"), self._new(), self._new(), self._new()
                body = [
                    f'{a} = "affine.load"({buffer}, {i}, {j}) <{{map = {ID}}}> : ({BUFFER}, index, index) -> i32',
                    f'{c} = "affine.load"(%C, {i}, {j}) <{{map = {ID}}}> : ({BUFFER}, index, index) -> i32',
                    f'{s} = "arith.addi"({a}, {c}) {FLAGS} : (i32, i32) -> i32',
                    f'"affine.store"({s}, %C, {i}, {j}) <{{map = {ID}}}> : (i32, {BUFFER}, index, index) -> ()',
                ]
                self.lines += self._loop(i, self._loop(j, body))
        index = self.random.choice(self.indices)
        self.lines.append(f'"memref.store"({total}, %C, {index}, %c1) : (i32, {BUFFER}, index, index) -> ()')
        for name, type_ in self.allocated:
            if self.random.random() < 0.4:
                self.lines.append(f'"memref.dealloc"({name}) : ({type_}) -> ()')


def program(names: list[str]) -> str:
    """Return a module whose `main` calls these functions on fresh buffers, and prints what they leave in C."""
    declared = "\n".join(f"func.func private @{name}({BUFFER}, {BUFFER}, {BUFFER})" for name in names)
    body = "\n".join(
        f"call @fill(%A, %c7) : ({BUFFER}, i32) -> ()\n"
        f"call @fill(%B, %c11) : ({BUFFER}, i32) -> ()\n"
        f"call @fill(%C, %c0) : ({BUFFER}, i32) -> ()\n"
        f"call @{name}(%A, %B, %C) : ({BUFFER}, {BUFFER}, {BUFFER}) -> ()\n"
        "call @printMemrefI32(%shown) : (memref<*xi32>) -> ()"
        for name in names
    )
    return f"""
func.func private @printMemrefI32(memref<*xi32>) attributes {{llvm.emit_c_interface}}
{declared}
func.func private @fill(%m: {BUFFER}, %s: i32) {{
  %three = arith.constant 3 : i32
  affine.for %i = 0 to {N} {{
    affine.for %j = 0 to {N} {{
      %x = arith.index_cast %i : index to i32
      %y = arith.index_cast %j : index to i32
      %a = arith.muli %x, %s : i32
      %b = arith.muli %y, %three : i32
      %v = arith.addi %a, %b : i32
      affine.store %v, %m[%i, %j] : {BUFFER}
    }}
  }}
  return
}}
func.func @main() {{
  %c0 = arith.constant 0 : i32
  %c7 = arith.constant 7 : i32
  %c11 = arith.constant 11 : i32
  %A = memref.alloc() : {BUFFER}
  %B = memref.alloc() : {BUFFER}
  %C = memref.alloc() : {BUFFER}
  %shown = memref.cast %C : {BUFFER} to memref<*xi32>
  {body}
  return
}}
"""
