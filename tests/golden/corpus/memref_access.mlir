func.func @access(%m: memref<4x8xf32>, %i: index) -> f32 {
  %0 = memref.load %m[%i, %i] : memref<4x8xf32>
  memref.store %0, %m[%i, %i] : memref<4x8xf32>
  %1 = memref.load %m[%i, %i] {nontemporal = true} : memref<4x8xf32>
  memref.prefetch %m[%i, %i], read, locality<3>, data : memref<4x8xf32>
  %2 = memref.atomic_rmw addf %1, %m[%i, %i] : (f32, memref<4x8xf32>) -> f32
  %3 = memref.generic_atomic_rmw %m[%i, %i] : memref<4x8xf32> {
  ^bb0(%old: f32):
    %new = arith.mulf %old, %2 : f32
    memref.atomic_yield %new : f32
  }
  return %3 : f32
}
