func.func @slices(%t: tensor<16x16xf32>, %n: index, %x: f32) -> tensor<16x16xf32> {
  %0 = tensor.extract_slice %t[0, %n] [4, 4] [1, 2] : tensor<16x16xf32> to tensor<4x4xf32>
  %1 = tensor.insert_slice %0 into %t[%n, 0] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<16x16xf32>
  %2 = tensor.pad %0 low[1, %n] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %x : f32
  } : tensor<4x4xf32> to tensor<6x?xf32>
  return %1 : tensor<16x16xf32>
}
