func.func @values(%i: index, %n: index) -> index {
  %0 = affine.apply affine_map<(d0)[s0] -> (d0 * 2 + s0)>(%i)[%n]
  %1 = affine.min affine_map<(d0) -> (d0, 16)>(%0)
  %2 = affine.max affine_map<(d0)[s0] -> (d0, s0)>(%1)[%n]
  %3:2 = affine.delinearize_index %2 into (4, 8) : index, index
  %4 = affine.linearize_index [%3#0, %3#1] by (4, 8) : index
  return %4 : index
}
