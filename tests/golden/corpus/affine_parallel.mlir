func.func @parallel(%m: memref<8x8xf32>) -> f32 {
  affine.parallel (%i, %j) = (0, 0) to (8, 8) step (2, 4) {
    %0 = affine.load %m[%i, %j] : memref<8x8xf32>
    affine.store %0, %m[%j, %i] : memref<8x8xf32>
  }
  %s = affine.parallel (%i) = (0) to (8) reduce ("addf") -> f32 {
    %0 = affine.load %m[%i, %i] : memref<8x8xf32>
    affine.yield %0 : f32
  }
  return %s : f32
}
