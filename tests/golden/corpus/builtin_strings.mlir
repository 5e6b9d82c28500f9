module attributes {test.a = "quote \22 backslash \\ newline \0A at @x", test.b = ["// no comment", "{[("], test.c = @"odd name"::@b, test.d = unit, test.e = {x, y = {z = "}"}}} {
  func.func private @"odd name"()
}
