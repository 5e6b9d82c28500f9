func.func @realloc(%m: memref<?xi8>) -> memref<64xi8> {
  %0 = memref.realloc %m : memref<?xi8> to memref<64xi8>
  return %0 : memref<64xi8>
}
