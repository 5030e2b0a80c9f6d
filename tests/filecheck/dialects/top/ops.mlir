// RUN: tpu-opt %s | tpu-opt | filecheck %s

// Text comes back as it was: attributes left out stay out, undeclared ones are kept, and names
// of several results, absent operands and regions survive.

// CHECK-LABEL: func.func @main
func.func @main(%arg0: tensor<1x3x8x8xf32>, %arg1: tensor<1xf32>) -> (tensor<1x4x1x1xf32>, tensor<1x4xf32>) {
  // CHECK: %[[NONE:.*]] = "top.None"() : () -> none
  %none = "top.None"() : () -> none loc("none")
  // CHECK: %[[X:.*]] = "top.Input"(%{{.*}}) {do_preprocess = false} : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
  %x = "top.Input"(%arg0) {do_preprocess = false} : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> loc("x")
  // CHECK: %[[W:.*]] = "top.Weight"() {store_mode = "4N"} : () -> tensor<4x3x3x3xf32>
  %w = "top.Weight"() {store_mode = "4N"} : () -> tensor<4x3x3x3xf32> loc("w")
  // CHECK: "top.Conv"(%[[X]], %[[W]], %[[NONE]]) {auto_pad = "SAME_UPPER", do_relu = true, kernel_shape = [3, 3], our_own = "kept", pads = [], strides = [2, 2]} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, none) -> tensor<1x4x4x4xf32>
  %conv = "top.Conv"(%x, %w, %none) {auto_pad = "SAME_UPPER", do_relu = true, kernel_shape = [3, 3], our_own = "kept", pads = [], strides = [2, 2]} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, none) -> tensor<1x4x4x4xf32> loc("conv")
  // CHECK: "top.AvgPool"(%{{.*}}) {kernel_shape = [], pads = [], strides = []} : (tensor<1x4x4x4xf32>) -> tensor<*xf32>
  %pool = "top.AvgPool"(%conv) {kernel_shape = [], pads = [], strides = []} : (tensor<1x4x4x4xf32>) -> tensor<*xf32> loc("pool")
  // CHECK: %[[PARTS:.*]]:2 = "top.Split"(%{{.*}}) {axis = 1 : si32, num = 2 : i64} : (tensor<1x4x4x4xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) loc(fused["a", "b"])
  %a, %b = "top.Split"(%conv) {axis = 1 : si32, num = 2 : i64} : (tensor<1x4x4x4xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) loc(fused["a", "b"])
  // CHECK: "top.Reshape"(%{{.*}}) {flatten_start_dim = 1 : i64, shape = [0, -1]} : (tensor<*xf32>) -> tensor<*xf32>
  %flat = "top.Reshape"(%pool) {flatten_start_dim = 1 : i64, shape = [0, -1]} : (tensor<*xf32>) -> tensor<*xf32> loc("flat")
  // CHECK: %{{.*}}:2 = "top.If"(%{{.*}}) ({
  %p, %q = "top.If"(%arg1) ({
    // CHECK: "top.Yield"(%{{.*}}, %{{.*}}) : (tensor<*xf32>, tensor<*xf32>) -> ()
    "top.Yield"(%pool, %flat) : (tensor<*xf32>, tensor<*xf32>) -> () loc("then")
  }, {
    "top.Yield"(%pool, %flat) : (tensor<*xf32>, tensor<*xf32>) -> () loc("else")
  }) : (tensor<1xf32>) -> (tensor<1x4x1x1xf32>, tensor<1x4xf32>) loc(fused["p", "q"])
  return %p, %q : tensor<1x4x1x1xf32>, tensor<1x4xf32> loc("return")
}
