func.func @types(%f: (i32, (f32) -> f64) -> ((i32) -> i32), %t: tuple<i32, f32>, %c: complex<f64>, %n: none) -> ((i32) -> i32) {
  %x = ub.poison : i32
  %g = ub.poison : (f32) -> f64
  %r = call_indirect %f(%x, %g) : (i32, (f32) -> f64) -> ((i32) -> i32)
  return %r : (i32) -> i32
}
