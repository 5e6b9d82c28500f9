module attributes {llvm.data_layout = "e-m:e-i64:64", llvm.target_triple = "x86_64-unknown-linux-gnu"} {
  llvm.module_flags [#llvm.mlir.module_flag<error, "wchar_size", 4 : i32>]
  llvm.comdat @__comdat {
    llvm.comdat_selector @any any
  }
  llvm.mlir.global linkonce_odr @shared(1 : i32) comdat(@__comdat::@any) : i32
  llvm.func @setup() {
    llvm.return
  }
  llvm.mlir.global_ctors ctors = [@setup], priorities = [0 : i32], data = [#llvm.zero]
  llvm.mlir.alias external @other : i32 {
    %0 = llvm.mlir.addressof @shared : !llvm.ptr
    llvm.return %0 : !llvm.ptr
  }
}
