func.func @while(%n: i32) -> i32 {
  %one = arith.constant 1 : i32
  %r:2 = scf.while (%a = %n, %b = %one) : (i32, i32) -> (i32, i32) {
    %c = arith.cmpi sgt, %a, %one : i32
    scf.condition(%c) %a, %b : i32, i32
  } do {
  ^bb0(%a: i32, %b: i32):
    %x = arith.subi %a, %one : i32
    %y = arith.muli %a, %b : i32
    scf.yield %x, %y : i32, i32
  }
  return %r#1 : i32
}
