llvm.func @printf(!llvm.ptr, ...) -> i32
llvm.func internal @local(%a: i32, %p: !llvm.ptr {llvm.noalias}) -> i32 attributes {dso_local, passthrough = ["nounwind"]} {
  %0 = llvm.mlir.constant(1 : i32) : i32
  %1 = llvm.add %a, %0 overflow<nsw> : i32
  %2 = llvm.call @printf(%p, %1) vararg(!llvm.func<i32 (ptr, ...)>) : (!llvm.ptr, i32) -> i32
  llvm.return %2 : i32
}
llvm.func @nothing() {
  llvm.return
}
