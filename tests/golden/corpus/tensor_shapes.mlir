func.func @shapes(%t: tensor<4x8xf32>, %s: tensor<1xindex>, %n: index) -> tensor<?xf32> {
  %0 = tensor.collapse_shape %t [[0, 1]] : tensor<4x8xf32> into tensor<32xf32>
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [8, 4] : tensor<32xf32> into tensor<8x4xf32>
  %2 = tensor.reshape %t(%s) : (tensor<4x8xf32>, tensor<1xindex>) -> tensor<?xf32>
  %3 = tensor.cast %t : tensor<4x8xf32> to tensor<?x?xf32>
  %4 = tensor.empty(%n) : tensor<?x3xf32, "encoding">
  %5 = tensor.concat dim(0) %t, %t : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %6 = tensor.bitcast %t : tensor<4x8xf32> to tensor<4x8xi32>
  return %2 : tensor<?xf32>
}
