func.func @conditions(%m: memref<16xf32>, %n: index) -> i32 {
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %r = affine.if affine_set<()[s0] : (s0 - 10 >= 0, s0 mod 2 == 0)>()[%n] -> i32 {
    affine.yield %one : i32
  } else {
    affine.yield %two : i32
  }
  affine.for %i = 0 to 16 {
    affine.if affine_set<(d0) : (d0 - 4 >= 0)>(%i) {
      %0 = affine.load %m[%i] : memref<16xf32>
    }
  }
  return %r : i32
}
