func.func @elements(%t: tensor<?x4xf32>, %x: f32, %i: index) -> (tensor<?x4xf32>, index, f32) {
  %0 = tensor.extract %t[%i, %i] : tensor<?x4xf32>
  %1 = tensor.insert %x into %t[%i, %i] : tensor<?x4xf32>
  %c = arith.constant 0 : index
  %2 = tensor.dim %t, %c : tensor<?x4xf32>
  %3 = tensor.from_elements %x, %0 : tensor<2xf32>
  %4 = tensor.splat %x : tensor<8xf32>
  %5 = tensor.generate %i {
  ^bb0(%a: index, %b: index):
    tensor.yield %x : f32
  } : tensor<?x4xf32>
  %6 = tensor.rank %t : tensor<?x4xf32>
  return %5, %2, %0 : tensor<?x4xf32>, index, f32
}
