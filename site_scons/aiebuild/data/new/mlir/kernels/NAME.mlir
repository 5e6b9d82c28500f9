// Y = X + 1 for one line of 64 elements.
func.func @NAME_line(%x: memref<64xi32>, %y: memref<64xi32>) {
  %one = arith.constant 1 : i32
  affine.for %i = 0 to 64 {
    %value = affine.load %x[%i] : memref<64xi32>
    %sum = arith.addi %value, %one : i32
    affine.store %sum, %y[%i] : memref<64xi32>
  }
  return
}
