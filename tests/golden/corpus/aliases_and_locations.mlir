#map = affine_map<(d0, d1) -> (d0, d1)>
#set = affine_set<(d0) : (d0 >= 0)>
!matrix = memref<4x4xf32, #map>
#loc = loc("file with space.py":3:4)
func.func @aliased(%a: !matrix loc(#loc)) -> index {
  %c = arith.constant 1 : index loc(fused<"pass">["a.c":1:2, callsite("f"("b.c":3:4) at unknown)])
  affine.if #set(%c) {
  } loc(#loc)
  return %c : index loc(#loc1)
} loc(#loc)
#loc1 = loc("named"(#loc))
