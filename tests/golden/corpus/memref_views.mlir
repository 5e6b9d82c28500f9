func.func @views(%m: memref<16x16xf32>, %n: index, %raw: memref<1024xi8>) -> memref<*xf32> {
  %0 = memref.subview %m[4, %n] [8, 4] [1, 2] : memref<16x16xf32> to memref<8x4xf32, strided<[16, 2], offset: ?>>
  %1 = memref.collapse_shape %m [[0, 1]] : memref<16x16xf32> into memref<256xf32>
  %2 = memref.expand_shape %1 [[0, 1]] output_shape [4, 64] : memref<256xf32> into memref<4x64xf32>
  %3 = memref.reinterpret_cast %m to offset: [%n], sizes: [4, 4], strides: [16, 1] : memref<16x16xf32> to memref<4x4xf32, strided<[16, 1], offset: ?>>
  %4 = memref.transpose %m (i, j) -> (j, i) : memref<16x16xf32> to memref<16x16xf32, affine_map<(d0, d1) -> (d1 * 16 + d0)>>
  %5 = memref.view %raw[%n][%n] : memref<1024xi8> to memref<?xf32>
  %6 = memref.cast %m : memref<16x16xf32> to memref<*xf32>
  %7 = memref.memory_space_cast %m : memref<16x16xf32> to memref<16x16xf32, 1>
  return %6 : memref<*xf32>
}
