// RUN: tpu-opt %s --split-input-file --shape-infer --processor-top-optimize --no-locations | filecheck %s

// Tokens of an image and of a text are joined before heads stand in front of them.
func.func @heads(%arg_x: tensor<1x10x4x8xf32>, %arg_y: tensor<1x3x4x8xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x10x4x8xf32>) -> tensor<1x10x4x8xf32> loc("x")
  %y = "top.Input"(%arg_y) : (tensor<1x3x4x8xf32>) -> tensor<1x3x4x8xf32> loc("y")
  %p = "top.Permute"(%x) {order = [0, 2, 1, 3]} : (tensor<1x10x4x8xf32>) -> tensor<*xf32> loc("p")
  %q = "top.Permute"(%y) {order = [0, 2, 1, 3]} : (tensor<1x3x4x8xf32>) -> tensor<*xf32> loc("q")
  %j = "top.Concat"(%p, %q) {axis = -2 : si32} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32> loc("j")
  return %j : tensor<*xf32>
}

// CHECK-LABEL: func.func @heads
// CHECK: %[[J:.*]] = "top.Concat"{{.*}}axis = 1 : si32{{.*}}-> tensor<1x13x4x8xf32>
// CHECK-NEXT: %[[P:.*]] = "top.Permute"(%[[J]]){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<1x4x13x8xf32>
// CHECK-NEXT: return %[[P]]

// -----

// So are those that a norm of each row, which moves in front of its Permute, stood behind.
func.func @norms(%arg_x: tensor<1x10x4x8xf32>, %arg_y: tensor<1x3x4x8xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x10x4x8xf32>) -> tensor<1x10x4x8xf32> loc("x")
  %y = "top.Input"(%arg_y) : (tensor<1x3x4x8xf32>) -> tensor<1x3x4x8xf32> loc("y")
  %p = "top.Permute"(%x) {order = [0, 2, 1, 3]} : (tensor<1x10x4x8xf32>) -> tensor<*xf32> loc("p")
  %q = "top.Permute"(%y) {order = [0, 2, 1, 3]} : (tensor<1x3x4x8xf32>) -> tensor<*xf32> loc("q")
  %a = "top.RMSNorm"(%p, %none) {eps = 1.0e-5 : f64} : (tensor<*xf32>, none) -> tensor<*xf32> loc("a")
  %b = "top.RMSNorm"(%q, %none) {eps = 1.0e-5 : f64} : (tensor<*xf32>, none) -> tensor<*xf32> loc("b")
  %j = "top.Concat"(%a, %b) {axis = 2 : si32} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32> loc("j")
  return %j : tensor<*xf32>
}

// CHECK-LABEL: func.func @norms
// CHECK: "top.RMSNorm"{{.*}}-> tensor<1x10x4x8xf32>
// CHECK: "top.RMSNorm"{{.*}}-> tensor<1x3x4x8xf32>
// CHECK: %[[J:.*]] = "top.Concat"{{.*}}axis = 1 : si32
// CHECK-NEXT: "top.Permute"(%[[J]])

// -----

// Of different orders.
func.func @orders(%arg_x: tensor<1x4x10x8xf32>, %arg_y: tensor<1x8x3x4xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x4x10x8xf32>) -> tensor<1x4x10x8xf32> loc("x")
  %y = "top.Input"(%arg_y) : (tensor<1x8x3x4xf32>) -> tensor<1x8x3x4xf32> loc("y")
  %p = "top.Permute"(%x) {order = [0, 1, 3, 2]} : (tensor<1x4x10x8xf32>) -> tensor<*xf32> loc("p")
  %q = "top.Permute"(%y) {order = [0, 3, 1, 2]} : (tensor<1x8x3x4xf32>) -> tensor<*xf32> loc("q")
  %j = "top.Concat"(%p, %q) {axis = 3 : si32} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32> loc("j")
  return %j : tensor<*xf32>
}

// CHECK-LABEL: func.func @orders
// CHECK-COUNT-2: "top.Permute"
// CHECK-NEXT: "top.Concat"

// -----

// Where another reads one of them as it is, it would have to be made twice.
func.func @read_twice(%arg_x: tensor<1x10x4x8xf32>, %arg_y: tensor<1x3x4x8xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x10x4x8xf32>) -> tensor<1x10x4x8xf32> loc("x")
  %y = "top.Input"(%arg_y) : (tensor<1x3x4x8xf32>) -> tensor<1x3x4x8xf32> loc("y")
  %p = "top.Permute"(%x) {order = [0, 2, 1, 3]} : (tensor<1x10x4x8xf32>) -> tensor<*xf32> loc("p")
  %q = "top.Permute"(%y) {order = [0, 2, 1, 3]} : (tensor<1x3x4x8xf32>) -> tensor<*xf32> loc("q")
  %j = "top.Concat"(%p, %q) {axis = 2 : si32} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32> loc("j")
  return %j, %q : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @read_twice
// CHECK-COUNT-2: "top.Permute"
// CHECK-NEXT: "top.Concat"

// -----

// Columns become rows of each part by itself.
func.func @columns(%arg_x: tensor<1x8x10xf32>, %arg_y: tensor<1x8x3xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x8x10xf32>) -> tensor<1x8x10xf32> loc("x")
  %y = "top.Input"(%arg_y) : (tensor<1x8x3xf32>) -> tensor<1x8x3xf32> loc("y")
  %p = "top.Permute"(%x) {order = [0, 2, 1]} : (tensor<1x8x10xf32>) -> tensor<*xf32> loc("p")
  %q = "top.Permute"(%y) {order = [0, 2, 1]} : (tensor<1x8x3xf32>) -> tensor<*xf32> loc("q")
  %j = "top.Concat"(%p, %q) {axis = 1 : si32} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32> loc("j")
  return %j : tensor<*xf32>
}

// CHECK-LABEL: func.func @columns
// CHECK-COUNT-2: "top.Permute"
// CHECK-NEXT: "top.Concat"
