memref.global "private" constant @table : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
memref.global "private" @scratch : memref<2x2xi32> = uninitialized
memref.global @outside : memref<3xi8>
memref.global @aligned : memref<1xf64> = dense<0.0> {alignment = 64 : i64}
func.func @globals() -> f32 {
  %0 = memref.get_global @table : memref<4xf32>
  %1 = memref.get_global @scratch : memref<2x2xi32>
  %2 = memref.get_global @outside : memref<3xi8>
  %c = arith.constant 2 : index
  %3 = memref.load %0[%c] : memref<4xf32>
  return %3 : f32
}
