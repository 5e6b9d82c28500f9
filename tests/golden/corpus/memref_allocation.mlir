func.func @allocation(%n: index) -> memref<?x4xi8> {
  %0 = memref.alloc(%n) : memref<?x4xi8>
  %1 = memref.alloca() {alignment = 64 : i64} : memref<16xf64>
  %2 = memref.alloc(%n)[%n] : memref<?xf32, affine_map<(d0)[s0] -> (d0 + s0)>>
  memref.dealloc %2 : memref<?xf32, affine_map<(d0)[s0] -> (d0 + s0)>>
  memref.alloca_scope {
    %3 = memref.alloca(%n) : memref<?xi1>
    memref.alloca_scope.return
  }
  return %0 : memref<?x4xi8>
}
