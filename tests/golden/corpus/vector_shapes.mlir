func.func @shapes(%v: vector<4x8xf32>, %a: vector<8xf32>, %b: vector<8xf32>) -> (vector<16xf32>, vector<8x4xf32>) {
  %0 = vector.shuffle %a, %b [0, 8, 1, 9] : vector<8xf32>, vector<8xf32>
  %1 = vector.shape_cast %v : vector<4x8xf32> to vector<32xf32>
  %2 = vector.transpose %v, [1, 0] : vector<4x8xf32> to vector<8x4xf32>
  %3 = vector.interleave %a, %b : vector<8xf32> -> vector<16xf32>
  %4, %5 = vector.deinterleave %3 : vector<16xf32> -> vector<8xf32>
  %6 = vector.bitcast %a : vector<8xf32> to vector<8xi32>
  return %3, %2 : vector<16xf32>, vector<8x4xf32>
}
