func.func @sums(%a: vector<4x8xf32>, %b: vector<8x4xf32>, %c: vector<4x4xf32>, %x: f32, %v: vector<8xf32>) -> (f32, vector<4x4xf32>) {
  %0 = vector.reduction <add>, %v, %x : vector<8xf32> into f32
  %1 = vector.reduction <maximumf>, %v fastmath<nnan> : vector<8xf32> into f32
  %2 = vector.contract {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %a, %b, %c : vector<4x8xf32>, vector<8x4xf32> into vector<4x4xf32>
  %3 = vector.outerproduct %v, %v : vector<8xf32>, vector<8xf32>
  %4 = vector.fma %v, %v, %v : vector<8xf32>
  %acc = arith.constant dense<0.0> : vector<4xf32>
  %5 = vector.multi_reduction <mul>, %a, %acc [1] : vector<4x8xf32> to vector<4xf32>
  %6, %7 = vector.scan <add>, %a, %acc {inclusive = true, reduction_dim = 1 : i64} : vector<4x8xf32>, vector<4xf32>
  return %0, %2 : f32, vector<4x4xf32>
}
