func.func @elements(%v: vector<4x8xf32>, %x: f32, %i: index) -> (f32, vector<4x8xf32>) {
  %0 = vector.extract %v[1] : vector<8xf32> from vector<4x8xf32>
  %1 = vector.extract %v[1, %i] : f32 from vector<4x8xf32>
  %2 = vector.insert %0, %v [2] : vector<8xf32> into vector<4x8xf32>
  %3 = vector.insert %x, %2 [0, %i] : f32 into vector<4x8xf32>
  %4 = vector.broadcast %x : f32 to vector<4x8xf32>
  %5 = vector.extract_strided_slice %v {offsets = [0, 2], sizes = [2, 4], strides = [1, 1]} : vector<4x8xf32> to vector<2x4xf32>
  %6 = vector.insert_strided_slice %5, %4 {offsets = [1, 2], strides = [1, 1]} : vector<2x4xf32> into vector<4x8xf32>
  %7 = vector.from_elements %x, %x : vector<2xf32>
  %8:2 = vector.to_elements %7 : vector<2xf32>
  return %1, %6 : f32, vector<4x8xf32>
}
