llvm.func @may_throw(i32) -> i32
llvm.func @__gxx_personality_v0(...) -> i32
llvm.func @careful(%a: i32) -> i32 attributes {personality = @__gxx_personality_v0} {
  %0 = llvm.invoke @may_throw(%a) to ^fine unwind ^bad : (i32) -> i32
^fine:
  llvm.return %0 : i32
^bad:
  %1 = llvm.landingpad cleanup : !llvm.struct<(ptr, i32)>
  llvm.resume %1 : !llvm.struct<(ptr, i32)>
}
