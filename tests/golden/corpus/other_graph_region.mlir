"builtin.module"() ({
  "own.graph"() ({
    %0 = "own.first"(%1) {unit, "quoted key" = !own.type<"a", [1, 2], {x = #own.attr<@f>}>} : (i32) -> i32
    %1 = "own.second"(%0) : (i32) -> i32
    "own.end"() : () -> ()
  }) : () -> ()
}) : () -> ()
