llvm.func @values(%a: i32, %b: i32, %x: f64, %s: !llvm.struct<"named", (i32, array<2 x f32>)>, %v: vector<4xf32>) -> i32 {
  %0 = llvm.icmp "slt" %a, %b : i32
  %1 = llvm.fcmp "oeq" %x, %x : f64
  %2 = llvm.select %0, %a, %b : i1, i32
  %3 = llvm.sext %2 : i32 to i64
  %4 = llvm.trunc %3 : i64 to i16
  %5 = llvm.sitofp %2 : i32 to f32
  %6 = llvm.extractvalue %s[1, 0] : !llvm.struct<"named", (i32, array<2 x f32>)>
  %7 = llvm.fadd %5, %6 {fastmathFlags = #llvm.fastmath<fast>} : f32
  %8 = llvm.extractelement %v[%a : i32] : vector<4xf32>
  %9 = llvm.shufflevector %v, %v [0, 4, 1, 5] : vector<4xf32>
  %10 = llvm.mlir.poison : i32
  %11 = llvm.mlir.zero : !llvm.ptr
  %12 = llvm.ptrtoint %11 : !llvm.ptr to i64
  %13 = llvm.inttoptr %12 : i64 to !llvm.ptr
  %14 = llvm.bitcast %7 : f32 to i32
  %15 = llvm.freeze %14 : i32
  %16 = llvm.udiv %15, %b : i32
  %17 = llvm.shl %16, %a : i32
  %18 = "llvm.intr.smax"(%17, %a) : (i32, i32) -> i32
  llvm.return %18 : i32
}
