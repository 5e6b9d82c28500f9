func.func @cfg(%c: i1, %a: i32, %f: i32) -> i32 {
  cf.cond_br %c, ^one(%a : i32), ^two(%a, %a : i32, i32)
^one(%x: i32):
  cf.br ^end(%x : i32)
^two(%y: i32, %z: i32):
  %s = arith.addi %y, %z : i32
  cf.switch %f : i32, [
    default: ^end(%s : i32),
    42: ^one(%y : i32),
    -3: ^two(%s, %z : i32, i32)
  ]
^end(%r: i32):
  cf.assert %c, "must be"
  return %r : i32
}
