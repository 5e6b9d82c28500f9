func.func @symbols(%m: memref<?x?xf32>, %n: index) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      %0 = affine.load %m[%i + symbol(%n) floordiv 2, %j mod 4] : memref<?x?xf32>
      affine.store %0, %m[%i * 2 - %j, symbol(%n)] : memref<?x?xf32>
    }
  }
  return
}
