func.func @vectors(%a: vector<4xi32>, %b: vector<4xi32>, %t: tensor<?xf32>) -> (vector<4xi1>, tensor<?xf32>) {
  %0 = arith.addi %a, %b : vector<4xi32>
  %1 = arith.cmpi sgt, %0, %b : vector<4xi32>
  %2 = arith.mulf %t, %t : tensor<?xf32>
  return %1, %2 : vector<4xi1>, tensor<?xf32>
}
