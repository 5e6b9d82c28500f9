func.func @attributed(%a: i32 {llvm.noundef, test.of = "a, b {"}, %b: memref<4xf32> {bufferization.writable = true})
    -> (i32 {llvm.signext}) attributes {no_inline, passthrough = ["noinline", ["key", "value"]], "with space" = 1 : i8} {
  return %a : i32
}
