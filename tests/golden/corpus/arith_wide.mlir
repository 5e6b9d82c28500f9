func.func @wide(%a: i32, %b: i32) -> (i32, i1) {
  %sum, %over = arith.addui_extended %a, %b : i32, i1
  %low, %high = arith.mului_extended %a, %b : i32
  %slow, %shigh = arith.mulsi_extended %a, %b : i32
  %x = arith.addi %low, %high : i32
  %y = arith.addi %slow, %shigh : i32
  %z = arith.addi %x, %y : i32
  %t = arith.addi %z, %sum : i32
  return %t, %over : i32, i1
}
