"builtin.module"() ({
  %0 = "own.op"() {a = #own.x<"(" , @f::@g, {b = [1.0e+10, -0x1p3 : f32]}>, b = !own.struct<(i32, !own.nested<ptr>)>, e = affine_map<(d0) -> (d0 ceildiv 4)>, f = distinct[0]<"id">, g = [@f::@g, @"odd name"]} : () -> !own.out<x->y>
}) : () -> ()
