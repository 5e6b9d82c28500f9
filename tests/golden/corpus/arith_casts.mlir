func.func @casts(%a: i16, %x: f32, %i: index) -> (i64, bf16, i32) {
  %0 = arith.extsi %a : i16 to i32
  %1 = arith.extui %a : i16 to i64
  %2 = arith.trunci %1 : i64 to i8
  %3 = arith.extf %x : f32 to f64
  %4 = arith.truncf %3 : f64 to bf16
  %5 = arith.sitofp %0 : i32 to f32
  %6 = arith.uitofp %0 : i32 to f32
  %7 = arith.fptosi %5 : f32 to i32
  %8 = arith.fptoui %6 : f32 to i32
  %9 = arith.bitcast %x : f32 to i32
  %10 = arith.index_cast %i : index to i64
  %11 = arith.index_castui %i : index to i32
  %12 = arith.addi %7, %8 : i32
  %13 = arith.addi %12, %9 : i32
  %14 = arith.addi %13, %11 : i32
  %15 = arith.extsi %2 : i8 to i64
  %16 = arith.addi %15, %10 : i64
  return %16, %4, %14 : i64, bf16, i32
}
