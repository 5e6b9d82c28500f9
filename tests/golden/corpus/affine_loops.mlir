func.func @loops(%m: memref<16x16xf32>, %n: index) -> f32 {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 16 step 2 {
    affine.for %j = affine_map<(d0) -> (d0)>(%i) to min affine_map<(d0)[s0] -> (d0 + 4, s0)>(%i)[%n] {
      %0 = affine.load %m[%i, %j + 1] : memref<16x16xf32>
      affine.store %0, %m[%i + 1, %j] : memref<16x16xf32>
    } {loop_name = "j"}
  } {stage_name = "s"}
  %s = affine.for %i = 0 to %n iter_args(%acc = %zero) -> f32 {
    %v = affine.load %m[%i, symbol(%n) - 1] : memref<16x16xf32>
    %a = arith.addf %acc, %v : f32
    affine.yield %a : f32
  }
  return %s : f32
}
