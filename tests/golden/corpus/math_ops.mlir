func.func @math(%x: f32, %v: vector<4xf32>, %i: i32) -> f32 {
  %0 = math.sqrt %x : f32
  %1 = math.exp %0 : f32
  %2 = math.fma %0, %1, %x : f32
  %3 = math.powf %2, %x fastmath<fast> : f32
  %4 = math.tanh %v : vector<4xf32>
  %5 = math.absi %i : i32
  %6 = math.ctpop %5 : i32
  return %3 : f32
}
