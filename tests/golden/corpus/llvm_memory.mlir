llvm.mlir.global internal constant @text("hello \00") {addr_space = 0 : i32, dso_local}
llvm.mlir.global external @counter(0 : i64) : i64
llvm.mlir.global private @made() : !llvm.struct<(i32, ptr)> {
  %0 = llvm.mlir.undef : !llvm.struct<(i32, ptr)>
  %1 = llvm.mlir.constant(7 : i32) : i32
  %2 = llvm.insertvalue %1, %0[0] : !llvm.struct<(i32, ptr)>
  llvm.return %2 : !llvm.struct<(i32, ptr)>
}
llvm.func @memory(%p: !llvm.ptr, %n: i64) -> f32 {
  %0 = llvm.mlir.addressof @counter : !llvm.ptr
  %1 = llvm.load %0 {alignment = 8 : i64} : !llvm.ptr -> i64
  %2 = llvm.getelementptr inbounds %p[%n, 3] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<8 x f32>
  %3 = llvm.load volatile %2 : !llvm.ptr -> f32
  %4 = llvm.alloca %n x f32 : (i64) -> !llvm.ptr
  llvm.store %3, %4 {nontemporal} : f32, !llvm.ptr
  "llvm.intr.memcpy"(%4, %p, %n) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
  llvm.fence release
  %5 = llvm.atomicrmw add %0, %n monotonic : !llvm.ptr, i64
  %6 = llvm.cmpxchg %0, %n, %5 acq_rel monotonic : !llvm.ptr, i64
  llvm.return %3 : f32
}
