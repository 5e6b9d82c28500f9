func.func @for(%m: memref<?xf32>, %n: index) -> (f32, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %k = arith.constant 0 : i32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z, %b = %k) -> (f32, i32) {
    %v = memref.load %m[%i] : memref<?xf32>
    %x = arith.addf %a, %v : f32
    scf.yield %x, %b : f32, i32
  }
  scf.for unsigned %i = %k to %r#1 step %r#1 : i32 {
  }
  return %r#0, %r#1 : f32, i32
}
