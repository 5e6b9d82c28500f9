module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @add(%a: memref<64xf32>, %b: memref<64xf32>) kernel {
      %i = gpu.thread_id x
      %0 = memref.load %a[%i] : memref<64xf32>
      memref.store %0, %b[%i] : memref<64xf32>
      gpu.barrier
      gpu.return
    }
  }
  func.func @launch(%a: memref<64xf32>, %b: memref<64xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@add blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<64xf32>, %b : memref<64xf32>)
    return
  }
}
