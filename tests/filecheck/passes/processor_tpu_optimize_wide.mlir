// RUN: tpu-opt %s --mlir-print-debuginfo --split-input-file --processor-tpu-optimize | filecheck %s
// RUN: tpu-opt %s --split-input-file --processor-tpu-optimize="disable=WideProduct" | filecheck %s --check-prefix=OFF

// The product is stored in f32, its bias is added in f32, and it has the name of what is returned.
// CHECK-LABEL: module @scores
// CHECK: "top.Weight"() : () -> tensor<16xf32>
// CHECK-NEXT: [[Y:%[0-9]+]] = "tpu.MatMul"({{.*}} : (tensor<4x8xf16>, tensor<8x16xf16>, tensor<16xf32>, none, none) -> tensor<4x16xf32> loc([[N:#loc[0-9]*]])
// CHECK-NEXT: return [[Y]]
// CHECK: [[N]] = loc("scores_f32")
// OFF-LABEL: module @scores
// OFF: "tpu.MatMul"{{.*}} -> tensor<4x16xf16>
// OFF-NEXT: "tpu.Cast"
module @scores attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<4x8xf16>) -> tensor<4x16xf32> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<4x8xf16>) -> tensor<4x8xf16> loc("x")
    %1 = "top.Weight"() : () -> tensor<8x16xf16> loc("w")
    %2 = "top.Weight"() : () -> tensor<16xf16> loc("b")
    %3 = "tpu.MatMul"(%0, %1, %2, %n, %n) : (tensor<4x8xf16>, tensor<8x16xf16>, tensor<16xf16>, none, none) -> tensor<4x16xf16> loc("scores")
    %4 = "tpu.Cast"(%3) : (tensor<4x16xf16>) -> tensor<4x16xf32> loc("scores_f32")
    return %4 : tensor<4x16xf32>
  }
}

// -----

// Without a bias, in bf16.
// CHECK-LABEL: module @plain
// CHECK: "tpu.MatMul"{{.*}} (tensor<4x8xbf16>, tensor<8x16xbf16>, none, none, none) -> tensor<4x16xf32>
// CHECK-NEXT: return
module @plain attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<4x8xbf16>) -> tensor<4x16xf32> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<4x8xbf16>) -> tensor<4x8xbf16> loc("x")
    %1 = "top.Weight"() : () -> tensor<8x16xbf16> loc("w")
    %3 = "tpu.MatMul"(%0, %1, %n, %n, %n) : (tensor<4x8xbf16>, tensor<8x16xbf16>, none, none, none) -> tensor<4x16xbf16> loc("scores")
    %4 = "tpu.Cast"(%3) : (tensor<4x16xbf16>) -> tensor<4x16xf32> loc("scores_f32")
    return %4 : tensor<4x16xf32>
  }
}

// -----

// Something else reads the product in 16 bits, or the f32 numbers.
// CHECK-LABEL: module @read
// CHECK-COUNT-2: "tpu.MatMul"{{.*}} -> tensor<4x8xf16>
// CHECK-NOT: "tpu.MatMul"
module @read attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<4x8xf16>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<4x8xf16>) -> tensor<4x8xf16> loc("x")
    %1 = "top.Weight"() : () -> tensor<8x8xf16> loc("w")
    %2 = "tpu.MatMul"(%0, %1, %n, %n, %n) : (tensor<4x8xf16>, tensor<8x8xf16>, none, none, none) -> tensor<4x8xf16> loc("a")
    %3 = "tpu.Cast"(%2) : (tensor<4x8xf16>) -> tensor<4x8xf32> loc("a_f32")
    %4 = "tpu.MatMul"(%2, %1, %n, %n, %n) : (tensor<4x8xf16>, tensor<8x8xf16>, none, none, none) -> tensor<4x8xf16> loc("c")
    %5 = "tpu.Cast"(%4) : (tensor<4x8xf16>) -> tensor<4x8xf32> loc("c_f32")
    %6 = "tpu.AddConst"(%5) {const_val = 2.0 : f64} : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("more")
    return %3, %5, %6 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  }
}

// -----

// One row: the Cast stays in the group of its product.
// CHECK-LABEL: module @row
// CHECK: "tpu.MatMul"{{.*}} -> tensor<1x16xf16>
// CHECK-NEXT: "tpu.Cast"
module @row attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x8xf16>) -> tensor<1x16xf32> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x8xf16>) -> tensor<1x8xf16> loc("x")
    %1 = "top.Weight"() : () -> tensor<8x16xf16> loc("w")
    %2 = "tpu.MatMul"(%0, %1, %n, %n, %n) : (tensor<1x8xf16>, tensor<8x16xf16>, none, none, none) -> tensor<1x16xf16> loc("scores")
    %3 = "tpu.Cast"(%2) : (tensor<1x16xf16>) -> tensor<1x16xf32> loc("scores_f32")
    return %3 : tensor<1x16xf32>
  }
}

// -----

// Packed matrices, of a single row, too.
// CHECK-LABEL: module @packed
// CHECK: "tpu.A16MatMul"({{.*}} -> tensor<1x64xf32>
// CHECK-NEXT: return
// OFF-LABEL: module @packed
// OFF: "tpu.A16MatMul"({{.*}} -> tensor<1x64xf16>
// OFF-NEXT: "tpu.Cast"
module @packed attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x64xf16>) -> tensor<1x64xf32> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x64xf16>) -> tensor<1x64xf16> loc("x")
    %w = "top.Weight"() : () -> tensor<64x32xui8> loc("w")
    %s = "top.Weight"() : () -> tensor<64x1xf16> loc("s")
    %z = "top.Weight"() : () -> tensor<64x1xui8> loc("z")
    %3 = "tpu.A16MatMul"(%0, %w, %s, %z, %n) {q_group_size = 64 : i64, w_transpose = true, weight_bits = 4 : i64} : (tensor<1x64xf16>, tensor<64x32xui8>, tensor<64x1xf16>, tensor<64x1xui8>, none) -> tensor<1x64xf16> loc("y")
    %4 = "tpu.Cast"(%3) : (tensor<1x64xf16>) -> tensor<1x64xf32> loc("y_f32")
    return %4 : tensor<1x64xf32>
  }
}

// -----

// Rows that are added are 16 bits, and so is their sum.
// CHECK-LABEL: module @added
// CHECK: "tpu.A16MatMul"({{.*}} -> tensor<1x64xf16>
// CHECK-NEXT: "tpu.Cast"
module @added attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x64xf16>) -> tensor<1x64xf32> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x64xf16>) -> tensor<1x64xf16> loc("x")
    %w = "top.Weight"() : () -> tensor<64x32xui8> loc("w")
    %s = "top.Weight"() : () -> tensor<64x1xf16> loc("s")
    %z = "top.Weight"() : () -> tensor<64x1xui8> loc("z")
    %3 = "tpu.A16MatMul"(%0, %w, %s, %z, %n, %0) {q_group_size = 64 : i64, w_transpose = true, weight_bits = 4 : i64} : (tensor<1x64xf16>, tensor<64x32xui8>, tensor<64x1xf16>, tensor<64x1xui8>, none, tensor<1x64xf16>) -> tensor<1x64xf16> loc("y")
    %4 = "tpu.Cast"(%3) : (tensor<1x64xf16>) -> tensor<1x64xf32> loc("y_f32")
    return %4 : tensor<1x64xf32>
  }
}

// -----

// Under another shape and order, of a product whose matrix comes first: moves carry f32.
// CHECK-LABEL: module @moved
// CHECK: "tpu.MatMul"{{.*}} (tensor<16x8xf16>, tensor<1x8xf16>, none, none, none) -> tensor<16x1xf32>
// CHECK-NEXT: "tpu.Reshape"({{.*}} : (tensor<16x1xf32>) -> tensor<1x16xf32> loc([[N:#loc[0-9]*]])
// CHECK: "tpu.MatMul"{{.*}} -> tensor<16x2xf32>
// CHECK-NEXT: "tpu.Permute"({{.*}} : (tensor<16x2xf32>, none) -> tensor<2x16xf32>
// CHECK-NOT: "tpu.Cast"
// CHECK: [[N]] = loc("y_f32")
// OFF-LABEL: module @moved
// OFF-COUNT-2: "tpu.Cast"
module @moved attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x8xf16>, %arg1: tensor<2x8xf16>) -> (tensor<1x16xf32>, tensor<2x16xf32>) {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x8xf16>) -> tensor<1x8xf16> loc("x")
    %w = "top.Weight"() : () -> tensor<16x8xf16> loc("w")
    %1 = "tpu.MatMul"(%w, %0, %n, %n, %n) {right_transpose = true} : (tensor<16x8xf16>, tensor<1x8xf16>, none, none, none) -> tensor<16x1xf16> loc("column")
    %2 = "tpu.Reshape"(%1) : (tensor<16x1xf16>) -> tensor<1x16xf16> loc("y")
    %3 = "tpu.Cast"(%2) : (tensor<1x16xf16>) -> tensor<1x16xf32> loc("y_f32")
    %i = "top.Input"(%arg1) : (tensor<2x8xf16>) -> tensor<2x8xf16> loc("i")
    %4 = "tpu.MatMul"(%w, %i, %n, %n, %n) {right_transpose = true} : (tensor<16x8xf16>, tensor<2x8xf16>, none, none, none) -> tensor<16x2xf16> loc("other")
    %5 = "tpu.Permute"(%4, %n) {order = [1, 0]} : (tensor<16x2xf16>, none) -> tensor<2x16xf16> loc("z")
    %6 = "tpu.Cast"(%5) : (tensor<2x16xf16>) -> tensor<2x16xf32> loc("z_f32")
    return %3, %6 : tensor<1x16xf32>, tensor<2x16xf32>
  }
}

// -----

// Something else reads what the product is under another shape.
// CHECK-LABEL: module @shape_read
// CHECK: "tpu.MatMul"{{.*}} -> tensor<16x1xf16>
// CHECK: "tpu.Cast"
module @shape_read attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x8xf16>) -> (tensor<1x16xf32>, tensor<1x16xf16>) {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x8xf16>) -> tensor<1x8xf16> loc("x")
    %w = "top.Weight"() : () -> tensor<16x8xf16> loc("w")
    %1 = "tpu.MatMul"(%w, %0, %n, %n, %n) {right_transpose = true} : (tensor<16x8xf16>, tensor<1x8xf16>, none, none, none) -> tensor<16x1xf16> loc("column")
    %2 = "tpu.Reshape"(%1) : (tensor<16x1xf16>) -> tensor<1x16xf16> loc("y")
    %3 = "tpu.Cast"(%2) : (tensor<1x16xf16>) -> tensor<1x16xf32> loc("y_f32")
    %4 = "tpu.Relu"(%2) : (tensor<1x16xf16>) -> tensor<1x16xf16> loc("r")
    return %3, %4 : tensor<1x16xf32>, tensor<1x16xf16>
  }
}
