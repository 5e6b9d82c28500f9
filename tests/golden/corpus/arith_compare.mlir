func.func @compare(%a: i32, %b: i32, %x: f64, %y: f64) -> i1 {
  %0 = arith.cmpi eq, %a, %b : i32
  %1 = arith.cmpi ne, %a, %b : i32
  %2 = arith.cmpi slt, %a, %b : i32
  %3 = arith.cmpi ule, %a, %b : i32
  %4 = arith.cmpf oeq, %x, %y : f64
  %5 = arith.cmpf une, %x, %y : f64
  %6 = arith.cmpf olt, %x, %y fastmath<nnan> : f64
  %7 = arith.select %0, %1, %2 : i1
  %8 = arith.select %3, %4, %5 : i1
  %9 = arith.select %6, %7, %8 : i1
  return %9 : i1
}
