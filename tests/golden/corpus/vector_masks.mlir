func.func @masks(%n: index, %v: vector<8xf32>, %x: f32) -> f32 {
  %0 = vector.create_mask %n : vector<8xi1>
  %1 = vector.constant_mask [4] : vector<8xi1>
  %2 = vector.mask %0 { vector.reduction <add>, %v : vector<8xf32> into f32 } : vector<8xi1> -> f32
  %3 = vector.step : vector<8xindex>
  %4 = vector.vscale
  vector.print %v : vector<8xf32>
  vector.print str "text, with @sign"
  vector.print %x : f32 punctuation <comma>
  return %2 : f32
}
