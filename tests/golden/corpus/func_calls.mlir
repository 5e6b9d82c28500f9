func.func private @outside(i32, memref<?xf32>) -> (i32, f32) attributes {llvm.emit_c_interface}
func.func private @none()
func.func @calls(%a: i32, %m: memref<?xf32>) -> f32 {
  %0:2 = call @outside(%a, %m) : (i32, memref<?xf32>) -> (i32, f32)
  call @none() : () -> ()
  %1:2 = func.call @outside(%0#0, %m) : (i32, memref<?xf32>) -> (i32, f32)
  return %1#1 : f32
}
