"builtin.module"() ({
  "aie.device"() <{device = 5 : i32, sym_name = "main"}> ({
    "func.func"() <{function_type = (memref<16xi32>) -> (), sym_name = "k", sym_visibility = "private"}> ({
    }) {link_with = "k.o"} : () -> ()
    %0 = "aie.tile"() <{col = 0 : i32, row = 0 : i32}> : () -> index
    %1 = "aie.tile"() <{col = 0 : i32, row = 2 : i32}> : () -> index
    "aie.objectfifo"(%0, %1) <{dimensionsFromStreamPerConsumer = #aie<bd_dim_layout_array_array[[]]>, dimensionsToStream = #aie<bd_dim_layout_array[<size = 4, stride = 4>, <size = 4, stride = 1>]>, elemNumber = 2 : i32, elemType = !aie.objectfifo<memref<16xi32>>, sym_name = "in"}> : (index, index) -> ()
    %2 = "aie.core"(%1) <{stack_size = 1024 : i32}> ({
      %3 = "aie.objectfifo.acquire"() <{objFifo_name = @in, port = 1 : i32, size = 1 : i32}> : () -> !aie.objectfifosubview<memref<16xi32>>
      %4 = "aie.objectfifo.subview.access"(%3) <{index = 0 : i32}> : (!aie.objectfifosubview<memref<16xi32>>) -> memref<16xi32>
      "func.call"(%4) <{callee = @k}> : (memref<16xi32>) -> ()
      "aie.objectfifo.release"() <{objFifo_name = @in, port = 1 : i32, size = 1 : i32}> : () -> ()
      "aie.end"() : () -> ()
    }) : (index) -> index
    "aie.end"() : () -> ()
  }) : () -> ()
}) : () -> ()
