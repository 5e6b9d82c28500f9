// 2MM: E = D + (A B) C. The stages are what a recipe may cut out; the algorithm does not say so.
func.func @top(%A: memref<16x22xf32>, %B: memref<22x18xf32>, %C: memref<18x24xf32>, %D: memref<16x24xf32>, %E: memref<16x24xf32>) {
  %zero = arith.constant 0.0 : f32
  %AB = memref.alloc() : memref<16x18xf32>
  affine.for %i = 0 to 16 {
    affine.for %j = 0 to 18 {
      affine.store %zero, %AB[%i, %j] : memref<16x18xf32>
      affine.for %k = 0 to 22 {
        %a = affine.load %A[%i, %k] : memref<16x22xf32>
        %b = affine.load %B[%k, %j] : memref<22x18xf32>
        %sum = affine.load %AB[%i, %j] : memref<16x18xf32>
        %product = arith.mulf %a, %b : f32
        %next = arith.addf %sum, %product : f32
        affine.store %next, %AB[%i, %j] : memref<16x18xf32>
      } {loop_name = "k"}
    } {loop_name = "j"}
  } {loop_name = "i", stage_name = "out_AB"}
  %ABC = memref.alloc() : memref<16x24xf32>
  affine.for %i = 0 to 16 {
    affine.for %j = 0 to 24 {
      affine.store %zero, %ABC[%i, %j] : memref<16x24xf32>
      affine.for %k = 0 to 18 {
        %a = affine.load %AB[%i, %k] : memref<16x18xf32>
        %b = affine.load %C[%k, %j] : memref<18x24xf32>
        %sum = affine.load %ABC[%i, %j] : memref<16x24xf32>
        %product = arith.mulf %a, %b : f32
        %next = arith.addf %sum, %product : f32
        affine.store %next, %ABC[%i, %j] : memref<16x24xf32>
      } {loop_name = "k1"}
    } {loop_name = "j1"}
  } {loop_name = "i1", stage_name = "out_ABC"}
  affine.for %i = 0 to 16 {
    affine.for %j = 0 to 24 {
      %abc = affine.load %ABC[%i, %j] : memref<16x24xf32>
      %d = affine.load %D[%i, %j] : memref<16x24xf32>
      %e = arith.addf %abc, %d : f32
      affine.store %e, %E[%i, %j] : memref<16x24xf32>
    } {loop_name = "j2"}
  } {loop_name = "i2", stage_name = "E"}
  memref.dealloc %AB : memref<16x18xf32>
  memref.dealloc %ABC : memref<16x24xf32>
  return
}
