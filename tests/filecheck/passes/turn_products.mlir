// RUN: tpu-opt %s --split-input-file --turn-products="chip=bm1684x" --no-locations | filecheck %s

// A product and what is computed of it element by element, up to the next product, on columns.
// CHECK-LABEL: module @block
// CHECK: [[X:%.+]] = "top.Input"
// CHECK-NOT: tpu.MatMul
// CHECK: [[T:%.+]] = "tpu.Permute"([[X]], {{.*}}order = [0, 2, 1]{{.*}} -> tensor<1x192x257xf16>
// CHECK-NEXT: [[V:%.+]] = "tpu.Reshape"([[T]]) {{.*}} -> tensor<1x192x257x1xf16>
// CHECK: [[H:%.+]] = "tpu.Conv2D"([[V]], {{.*}}kernel_shape = [1, 1]{{.*}}with_bias = true{{.*}}tensor<768x192x1x1xf16>, tensor<1x768x1x1xf32>) -> tensor<1x768x257x1xf16>
// CHECK-NEXT: [[G:%.+]] = "tpu.Active"([[H]]) {{.*}} -> tensor<1x768x257x1xf16>
// CHECK: [[D:%.+]] = "tpu.Conv2D"([[G]], {{.*}}with_bias = false{{.*}}tensor<192x768x1x1xf16>, none) -> tensor<1x192x257x1xf16>
// CHECK-NEXT: [[R:%.+]] = "tpu.Reshape"([[D]]) {{.*}} -> tensor<1x192x257xf16>
// CHECK-NEXT: [[Y:%.+]] = "tpu.Permute"([[R]], {{.*}} -> tensor<1x257x192xf16>
// CHECK-NEXT: return [[Y]]
module @block attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x257x192xf16>) -> tensor<1x257x192xf16> {
    %n = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x257x192xf16>) -> tensor<1x257x192xf16> loc("x")
    %w = "top.Weight"() : () -> tensor<1x192x768xf16> loc("w")
    %b = "top.Weight"() : () -> tensor<1x1x768xf16> loc("b")
    %v = "top.Weight"() : () -> tensor<1x192x768xf16> loc("v")
    %h = "tpu.MatMul"(%x, %w, %b, %n, %n) : (tensor<1x257x192xf16>, tensor<1x192x768xf16>, tensor<1x1x768xf16>, none, none) -> tensor<1x257x768xf16> loc("h")
    %g = "tpu.Active"(%h) {mode = #tpu<active_mode GELU>} : (tensor<1x257x768xf16>) -> tensor<1x257x768xf16> loc("g")
    %y = "tpu.MatMul"(%g, %v, %n, %n, %n) {right_transpose = true} : (tensor<1x257x768xf16>, tensor<1x192x768xf16>, none, none, none) -> tensor<1x257x192xf16> loc("y")
    return %y : tensor<1x257x192xf16>
  }
}

// -----

// Integers keep multiplier, shift and rounding.
// CHECK-LABEL: module @integers
// CHECK: "tpu.Conv2D"({{.*}}multiplier = [1518500250, 1518500250{{.*}}round_mode = #tpu<round_mode HalfAwayFromZero>, rshift = [38, 38{{.*}}tensor<768x192x1x1xsi8>, tensor<1x768x1x1xi32>) -> tensor<1x768x257x1x!quant.uniform<i8:f32, 3.000000e-02>>
module @integers attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x257x192x!quant.uniform<i8:f32, 0.03>>) -> tensor<1x257x768x!quant.uniform<i8:f32, 0.03>> {
    %n = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x257x192x!quant.uniform<i8:f32, 0.03>>) -> tensor<1x257x192x!quant.uniform<i8:f32, 0.03>> loc("x")
    %w = "top.Weight"() : () -> tensor<192x768xi8> loc("w")
    %b = "top.Weight"() : () -> tensor<1x1x768xi32> loc("b")
    %h = "tpu.MatMul"(%x, %w, %b, %n, %n) {multipliers = [1518500250], rshifts = [38]} : (tensor<1x257x192x!quant.uniform<i8:f32, 0.03>>, tensor<192x768xi8>, tensor<1x1x768xi32>, none, none) -> tensor<1x257x768x!quant.uniform<i8:f32, 0.03>> loc("h")
    return %h : tensor<1x257x768x!quant.uniform<i8:f32, 0.03>>
  }
}

// -----

// Rows that fill the lanes stay; so do a matrix that is computed, f32, and a product whose weights
// take longer than it does.
// CHECK-LABEL: module @full
// CHECK-NOT: tpu.Conv2D
// CHECK: "tpu.MatMul"
// CHECK-NOT: tpu.Conv2D
module @full attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x192x192xf16>) -> tensor<1x192x768xf16> {
    %n = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x192x192xf16>) -> tensor<1x192x192xf16> loc("x")
    %w = "top.Weight"() : () -> tensor<1x192x768xf16> loc("w")
    %h = "tpu.MatMul"(%x, %w, %n, %n, %n) : (tensor<1x192x192xf16>, tensor<1x192x768xf16>, none, none, none) -> tensor<1x192x768xf16> loc("h")
    return %h : tensor<1x192x768xf16>
  }
}

// -----

// CHECK-LABEL: module @computed
// CHECK-NOT: tpu.Conv2D
// CHECK: "tpu.MatMul"
module @computed attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x197x192xf16>, %arg1: tensor<1x192x768xf16>) -> tensor<1x197x768xf16> {
    %n = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x197x192xf16>) -> tensor<1x197x192xf16> loc("x")
    %w = "top.Input"(%arg1) : (tensor<1x192x768xf16>) -> tensor<1x192x768xf16> loc("w")
    %h = "tpu.MatMul"(%x, %w, %n, %n, %n) : (tensor<1x197x192xf16>, tensor<1x192x768xf16>, none, none, none) -> tensor<1x197x768xf16> loc("h")
    return %h : tensor<1x197x768xf16>
  }
}

// -----

// CHECK-LABEL: module @wide
// CHECK-NOT: tpu.Conv2D
// CHECK: "tpu.MatMul"
module @wide attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x197x192xf32>) -> tensor<1x197x768xf32> {
    %n = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x197x192xf32>) -> tensor<1x197x192xf32> loc("x")
    %w = "top.Weight"() : () -> tensor<1x192x768xf32> loc("w")
    %h = "tpu.MatMul"(%x, %w, %n, %n, %n) : (tensor<1x197x192xf32>, tensor<1x192x768xf32>, none, none, none) -> tensor<1x197x768xf32> loc("h")
    return %h : tensor<1x197x768xf32>
  }
}

// -----

// CHECK-LABEL: module @waits
// CHECK-NOT: tpu.Conv2D
// CHECK: "tpu.MatMul"
module @waits attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x49x768xf16>) -> tensor<1x49x768xf16> {
    %n = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x49x768xf16>) -> tensor<1x49x768xf16> loc("x")
    %w = "top.Weight"() : () -> tensor<1x768x768xf16> loc("w")
    %h = "tpu.MatMul"(%x, %w, %n, %n, %n) : (tensor<1x49x768xf16>, tensor<1x768x768xf16>, none, none, none) -> tensor<1x49x768xf16> loc("h")
    return %h : tensor<1x49x768xf16>
  }
}
