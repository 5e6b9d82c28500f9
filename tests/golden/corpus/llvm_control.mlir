llvm.func @control(%c: i1, %n: i32) -> i32 {
  llvm.cond_br %c weights([3, 1]), ^a(%n : i32), ^b
^a(%x: i32):
  llvm.switch %x : i32, ^b [
    1: ^c(%x : i32),
    2: ^b
  ]
^b:
  %0 = llvm.mlir.constant(0 : i32) : i32
  llvm.br ^c(%0 : i32)
^c(%r: i32):
  llvm.return %r : i32
}
llvm.func @never() {
  llvm.unreachable
}
