func.func @structured(%a: tensor<4x8xf32>, %o: tensor<4xf32>, %t: tensor<8x4xf32>, %d: tensor<4x8x2xf32>) -> (tensor<4xf32>, tensor<8x4xf32>) {
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<4x8xf32>) outs(%o : tensor<4xf32>) dimensions = [1]
  %1 = linalg.transpose ins(%a : tensor<4x8xf32>) outs(%t : tensor<8x4xf32>) permutation = [1, 0]
  %2 = linalg.broadcast ins(%a : tensor<4x8xf32>) outs(%d : tensor<4x8x2xf32>) dimensions = [2]
  %3 = linalg.map { arith.mulf } ins(%a, %a : tensor<4x8xf32>, tensor<4x8xf32>) outs(%a : tensor<4x8xf32>)
  return %0, %1 : tensor<4xf32>, tensor<8x4xf32>
}
