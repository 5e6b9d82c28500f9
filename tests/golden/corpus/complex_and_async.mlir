func.func @complex(%a: complex<f32>, %x: f32) -> f32 {
  %0 = complex.create %x, %x : complex<f32>
  %1 = complex.mul %0, %a : complex<f32>
  %2 = complex.re %1 : complex<f32>
  %token = async.execute {
    async.yield
  }
  async.await %token : !async.token
  return %2 : f32
}
