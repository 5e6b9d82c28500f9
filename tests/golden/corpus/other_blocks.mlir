"builtin.module"() ({
  "own.region"() ({
  ^bb0(%a: i32, %b: !own.t<4>):
    "own.branch"(%a)[^bb1, ^bb2] <{x = 1 : i32}> {y} : (i32) -> ()
  ^bb1:
    "own.end"() : () -> ()
  ^bb2:
    "own.end"() : () -> ()
  }, {
  }, {
    "own.end"() : () -> ()
  }) : () -> ()
}) : () -> ()
