func.func @facts(%m: memref<?x4xf32>, %u: memref<*xf32>, %s: memref<1xindex>) -> index {
  %c = arith.constant 0 : index
  %0 = memref.dim %m, %c : memref<?x4xf32>
  %1 = memref.rank %u : memref<*xf32>
  %2 = memref.extract_aligned_pointer_as_index %m : memref<?x4xf32> -> index
  %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %m : memref<?x4xf32> -> memref<f32>, index, index, index, index, index
  %3 = memref.reshape %u(%s) : (memref<*xf32>, memref<1xindex>) -> memref<?xf32>
  %4 = memref.assume_alignment %m, 16 : memref<?x4xf32>
  %5 = arith.addi %0, %1 : index
  %6 = arith.addi %5, %2 : index
  %7 = arith.addi %6, %sizes#0 : index
  return %7 : index
}
