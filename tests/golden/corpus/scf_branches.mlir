func.func @branches(%c: i1, %i: index, %a: f32) -> f32 {
  scf.if %c {
    scf.yield
  }
  %0 = scf.if %c -> f32 {
    scf.yield %a : f32
  } else {
    %x = arith.negf %a : f32
    scf.yield %x : f32
  }
  %1 = scf.index_switch %i -> f32
  case 2 {
    scf.yield %a : f32
  }
  case 5 {
    scf.yield %0 : f32
  }
  default {
    scf.yield %0 : f32
  }
  return %1 : f32
}
