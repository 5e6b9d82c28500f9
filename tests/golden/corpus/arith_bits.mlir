func.func @bits(%a: i64, %b: i64) -> i64 {
  %0 = arith.andi %a, %b : i64
  %1 = arith.ori %0, %b : i64
  %2 = arith.xori %1, %a : i64
  %3 = arith.shli %2, %b : i64
  %4 = arith.shrsi %3, %b : i64
  %5 = arith.shrui %4, %b : i64
  return %5 : i64
}
