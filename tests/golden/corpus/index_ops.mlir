func.func @indices(%a: index, %b: index) -> index {
  %0 = index.add %a, %b
  %1 = index.mul %0, %b
  %2 = index.ceildivu %1, %b
  %3 = index.constant 8
  %4 = index.cmp ult(%2, %3)
  %5 = index.casts %3 : index to i32
  return %2 : index
}
