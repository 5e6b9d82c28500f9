func.func @constants() -> (i1, i8, i32, i64, index, f16, f32, f64, bf16) {
  %0 = arith.constant true
  %1 = arith.constant -128 : i8
  %2 = arith.constant 2147483647 : i32
  %3 = arith.constant -9223372036854775808 : i64
  %4 = arith.constant 42 : index
  %5 = arith.constant 1.5 : f16
  %6 = arith.constant 0x7FC00000 : f32
  %7 = arith.constant -1.0e-300 : f64
  %8 = arith.constant 0xFF80 : bf16
  %9 = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %10 = arith.constant dense<"0x0100000002000000"> : tensor<2xi32>
  %11 = arith.constant sparse<[[0, 0], [1, 2]], [1.0, 2.0]> : tensor<3x4xf32>
  %12 = arith.constant dense<0.0> : vector<4x[4]xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : i1, i8, i32, i64, index, f16, f32, f64, bf16
}
