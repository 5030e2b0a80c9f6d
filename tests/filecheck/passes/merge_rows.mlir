// RUN: tpu-opt %s --split-input-file --shape-infer --merge-rows --no-locations | filecheck %s

// The pixels of an image, channels last.
// CHECK-LABEL: func.func @pixels
// CHECK: "top.Reshape"({{.*}}-> tensor<1x24x3136xf32>
// CHECK-NEXT: "top.Permute"({{.*}}order = [0, 2, 1]{{.*}}-> tensor<1x3136x24xf32>
// CHECK-NEXT: "top.LayerNorm"({{.*}}axis = 2 : si32{{.*}}-> tensor<1x3136x24xf32>
// CHECK: "top.MatMul"({{.*}}-> tensor<1x3136x96xf32>
// CHECK-NEXT: "top.GELU"({{.*}}-> tensor<1x3136x96xf32>
// CHECK-NEXT: "top.Permute"({{.*}}order = [0, 2, 1]{{.*}}-> tensor<1x96x3136xf32>
// CHECK-NEXT: [[Y:%.+]] = "top.Reshape"({{.*}}-> tensor<1x96x56x56xf32>
// CHECK-NEXT: return [[Y]]
func.func @pixels(%arg: tensor<1x24x56x56xf32>, %w: tensor<24x96xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg) : (tensor<1x24x56x56xf32>) -> tensor<1x24x56x56xf32> loc("x")
  %p = "top.Permute"(%x) {order = [0, 2, 3, 1]} : (tensor<1x24x56x56xf32>) -> tensor<*xf32> loc("p")
  %l = "top.LayerNorm"(%p, %n, %n) {axis = 3 : si32, eps = 1.0e-05 : f64, normalized_shape = []} : (tensor<*xf32>, none, none) -> tensor<*xf32> loc("l")
  %m = "top.MatMul"(%l, %w, %n) : (tensor<*xf32>, tensor<24x96xf32>, none) -> tensor<*xf32> loc("m")
  %g = "top.GELU"(%m) : (tensor<*xf32>) -> tensor<*xf32> loc("g")
  %y = "top.Permute"(%g) {order = [0, 3, 1, 2]} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// -----

// A LayerNorm over lines and channels needs the lines: only the product behind it is a matrix's.
// CHECK-LABEL: func.func @lines
// CHECK: "top.LayerNorm"({{.*}}axis = 2 : si32{{.*}}-> tensor<1x56x56x24xf32>
// CHECK-NEXT: "top.Reshape"({{.*}}-> tensor<1x3136x24xf32>
// CHECK-NEXT: "top.MatMul"({{.*}}-> tensor<1x3136x96xf32>
// CHECK-NEXT: "top.Reshape"({{.*}}-> tensor<1x56x56x96xf32>
func.func @lines(%arg: tensor<1x56x56x24xf32>, %w: tensor<24x96xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg) : (tensor<1x56x56x24xf32>) -> tensor<1x56x56x24xf32> loc("x")
  %l = "top.LayerNorm"(%x, %n, %n) {axis = 2 : si32, eps = 1.0e-05 : f64, normalized_shape = []} : (tensor<1x56x56x24xf32>, none, none) -> tensor<*xf32> loc("l")
  %y = "top.MatMul"(%l, %w, %n) : (tensor<*xf32>, tensor<24x96xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// -----

// Three dimensions are the fewest: images stay apart.
// CHECK-LABEL: func.func @images
// CHECK-NOT: top.Reshape
func.func @images(%arg: tensor<4x196x24xf32>, %w: tensor<24x96xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg) : (tensor<4x196x24xf32>) -> tensor<4x196x24xf32> loc("x")
  %y = "top.MatMul"(%x, %w, %n) : (tensor<4x196x24xf32>, tensor<24x96xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}
