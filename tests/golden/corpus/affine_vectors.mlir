func.func @affine_vectors(%m: memref<8x8xf32>, %i: index) {
  affine.for %k = 0 to 8 {
    affine.prefetch %m[%k, 0], read, locality<3>, data : memref<8x8xf32>
    %0 = affine.vector_load %m[%k, 0] : memref<8x8xf32>, vector<8xf32>
    affine.vector_store %0, %m[0, 0] : memref<8x8xf32>, vector<8xf32>
  }
  return
}
