func.func @transfer(%m: memref<8x8xf32>, %t: tensor<8x8xf32>, %i: index, %mask: vector<4xi1>) -> (vector<4xf32>, tensor<8x8xf32>) {
  %z = arith.constant 0.0 : f32
  %0 = vector.transfer_read %m[%i, %i], %z {in_bounds = [true]} : memref<8x8xf32>, vector<4xf32>
  %1 = vector.transfer_read %m[%i, %i], %z, %mask {permutation_map = affine_map<(d0, d1) -> (d0)>} : memref<8x8xf32>, vector<4xf32>
  vector.transfer_write %0, %m[%i, %i] {in_bounds = [true]} : vector<4xf32>, memref<8x8xf32>
  %2 = vector.transfer_write %1, %t[%i, %i], %mask : vector<4xf32>, tensor<8x8xf32>
  return %0, %2 : vector<4xf32>, tensor<8x8xf32>
}
