module @outer attributes {test.version = 3 : i64, dlti.dl_spec = #dlti.dl_spec<index = 64 : i32>} {
  module @inner {
    func.func @f() {
      return
    }
  }
  func.func @g(%a: index) -> i64 {
    %0 = builtin.unrealized_conversion_cast %a : index to i64
    return %0 : i64
  }
}
