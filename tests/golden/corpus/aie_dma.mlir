"builtin.module"() ({
  "aie.device"() <{device = 5 : i32, sym_name = "main"}> ({
    %0 = "aie.tile"() <{col = 0 : i32, row = 1 : i32}> : () -> index
    %1 = "aie.buffer"(%0) <{sym_name = "b"}> : (index) -> memref<64xi32>
    %2 = "aie.lock"(%0) <{init = 1 : i8, lockID = 0 : i32, sym_name = "l"}> : (index) -> index
    %3 = "aie.memtile_dma"(%0) ({
      %4 = "aie.dma_start"()[^bb1, ^bb2] <{channel_dir = 0 : i32, channel_index = 0 : i32, repeat_count = 0 : i32}> : () -> i1
    ^bb1:
      "aie.use_lock"(%2) <{action = 2 : i32, value = 1 : i32}> : (index) -> ()
      "aie.dma_bd"(%1) <{burst_length = 0 : i32, dimensions = #aie<bd_dim_layout_array[<size = 8, stride = 8>, <size = 8, stride = 1>]>, len = 64 : i32, offset = 0 : i32}> : (memref<64xi32>) -> ()
      "aie.next_bd"()[^bb1] : () -> ()
    ^bb2:
      "aie.end"() : () -> ()
    }) : (index) -> index
    "aie.end"() : () -> ()
  }) : () -> ()
}) : () -> ()
