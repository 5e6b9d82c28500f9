"builtin.module"() ({
  "aie.device"() <{device = 5 : i32, sym_name = "first"}> ({
    "aie.runtime_sequence"() <{sym_name = "run"}> ({
    ^bb0(%arg0: memref<16xi32>):
    }) : () -> ()
    "aie.end"() : () -> ()
  }) : () -> ()
  "aie.device"() <{device = 5 : i32, sym_name = "second"}> ({
    "aie.runtime_sequence"() <{sym_name = "main"}> ({
    ^bb0(%arg0: memref<16xi32>):
      "aiex.configure"() <{symbol = @first}> ({
        "aiex.run"(%arg0) <{runtime_sequence_symbol = @run}> : (memref<16xi32>) -> ()
      }) : () -> ()
      "aiex.npu.load_pdi"() <{device_ref = @first, id = 1 : i32}> : () -> ()
    }) : () -> ()
    "aie.end"() : () -> ()
  }) : () -> ()
}) : () -> ()
