func.func @memory(%m: memref<64xf32>, %i: index, %mask: vector<8xi1>, %at: vector<8xi32>, %p: vector<8xf32>) -> vector<8xf32> {
  %0 = vector.load %m[%i] : memref<64xf32>, vector<8xf32>
  vector.store %0, %m[%i] : memref<64xf32>, vector<8xf32>
  %1 = vector.maskedload %m[%i], %mask, %p : memref<64xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  vector.maskedstore %m[%i], %mask, %1 : memref<64xf32>, vector<8xi1>, vector<8xf32>
  %2 = vector.gather %m[%i] [%at], %mask, %p : memref<64xf32>, vector<8xi32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  vector.scatter %m[%i] [%at], %mask, %2 : memref<64xf32>, vector<8xi32>, vector<8xi1>, vector<8xf32>
  %3 = vector.expandload %m[%i], %mask, %p : memref<64xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  vector.compressstore %m[%i], %mask, %3 : memref<64xf32>, vector<8xi1>, vector<8xf32>
  return %3 : vector<8xf32>
}
