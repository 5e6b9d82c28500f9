func.func @even(%n: i32) -> i1 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %t = arith.constant true
  %is = arith.cmpi eq, %n, %zero : i32
  %r = scf.if %is -> i1 {
    scf.yield %t : i1
  } else {
    %m = arith.subi %n, %one : i32
    %o = func.call @odd(%m) : (i32) -> i1
    scf.yield %o : i1
  }
  return %r : i1
}
func.func @odd(%n: i32) -> i1 {
  %e = call @even(%n) : (i32) -> i1
  %t = arith.constant true
  %r = arith.xori %e, %t : i1
  return %r : i1
}
