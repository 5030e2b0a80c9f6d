// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --pack-weights="bits=4 group=32" --no-locations | filecheck %s

// A constant matrix has its columns as rows, half as many bytes, and two groups in each.
// CHECK-LABEL: module @plain
// CHECK: [[P:%.+]] = "top.Weight"() : () -> tensor<64x32xui8>
// CHECK: [[S:%.+]] = "top.Weight"() : () -> tensor<64x2xf16>
// CHECK: [[Z:%.+]] = "top.Weight"() : () -> tensor<64x2xui8>
// CHECK: "top.A16MatMul"({{%.+}}, [[P]], [[S]], [[Z]], {{%.+}}) {{.*}}q_group_size = 32{{.*}}right_transpose = true{{.*}}weight_bits = 4
// CHECK-NOT: top.MatMul
module @plain attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x3x64xf32>) -> tensor<1x3x64xf32> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x3x64xf32>) -> tensor<1x3x64xf32> loc("x")
    %w0 = "top.Weight"() : () -> tensor<64x64xf32> loc("random_64x64")
    %y = "top.MatMul"(%0, %w0, %n) {} : (tensor<1x3x64xf32>, tensor<64x64xf32>, none) -> tensor<1x3x64xf32> loc("y")
    return %y : tensor<1x3x64xf32>
  }
}

// -----

// A matrix that the product transposes has such rows already.
// CHECK-LABEL: module @turned
// CHECK: "top.Weight"() : () -> tensor<128x32xui8>
// CHECK: "top.A16MatMul"{{.*}} -> tensor<1x3x128xf32>
module @turned attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x3x64xf32>) -> tensor<1x3x128xf32> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x3x64xf32>) -> tensor<1x3x64xf32> loc("x")
    %w0 = "top.Weight"() : () -> tensor<128x64xf32> loc("random_128x64")
    %y = "top.MatMul"(%0, %w0, %n) {right_transpose = true} : (tensor<1x3x64xf32>, tensor<128x64xf32>, none) -> tensor<1x3x128xf32> loc("y")
    return %y : tensor<1x3x128xf32>
  }
}

// -----

// What is clamped is clamped by an op of its own.
// CHECK-LABEL: module @clamped
// CHECK: [[Y:%.+]] = "top.A16MatMul"
// CHECK: "top.Relu"([[Y]]) {relu_limit = 6.000000e+00 : f64}
module @clamped attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x3x64xf32>) -> tensor<1x3x64xf32> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x3x64xf32>) -> tensor<1x3x64xf32> loc("x")
    %w0 = "top.Weight"() : () -> tensor<64x64xf32> loc("random_64x64")
    %y = "top.MatMul"(%0, %w0, %n) {do_relu = true, relu_limit = 6.0 : f64} : (tensor<1x3x64xf32>, tensor<64x64xf32>, none) -> tensor<1x3x64xf32> loc("y")
    return %y : tensor<1x3x64xf32>
  }
}

// -----

// Two products of one matrix have one packed form.
// CHECK-LABEL: module @shared
// CHECK-COUNT-1: tensor<64x32xui8>{{$}}
// CHECK: "top.A16MatMul"({{%.+}}, [[P:%.+]], [[S:%.+]], [[Z:%.+]], {{%.+}})
// CHECK: "top.A16MatMul"({{%.+}}, [[P]], [[S]], [[Z]], {{%.+}})
module @shared attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x3x64xf32>) -> tensor<1x3x64xf32> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x3x64xf32>) -> tensor<1x3x64xf32> loc("x")
    %w0 = "top.Weight"() : () -> tensor<64x64xf32> loc("random_64x64")
    %a = "top.MatMul"(%0, %w0, %n) {} : (tensor<1x3x64xf32>, tensor<64x64xf32>, none) -> tensor<1x3x64xf32> loc("a")
    %b = "top.MatMul"(%a, %w0, %n) {} : (tensor<1x3x64xf32>, tensor<64x64xf32>, none) -> tensor<1x3x64xf32> loc("b")
    return %b : tensor<1x3x64xf32>
  }
}

// -----

// A table of embeddings that is the output matrix as well stays in floats for those.
// CHECK-LABEL: module @table
// CHECK: [[W:%.+]] = "top.Weight"() : () -> tensor<64x64xf32>
// CHECK: "top.Gather"([[W]]
// CHECK: "top.A16MatMul"
module @table attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x3xf32>) -> tensor<1x3x64xf32> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x3xf32>) -> tensor<1x3xf32> loc("x")
    %w0 = "top.Weight"() : () -> tensor<64x64xf32> loc("random_64x64")
    %t = "top.Gather"(%w0, %0) {axis = 0 : si32} : (tensor<64x64xf32>, tensor<1x3xf32>) -> tensor<1x3x64xf32> loc("t")
    %y = "top.MatMul"(%t, %w0, %n) {right_transpose = true} : (tensor<1x3x64xf32>, tensor<64x64xf32>, none) -> tensor<1x3x64xf32> loc("y")
    return %y : tensor<1x3x64xf32>
  }
}

// -----

// Columns of 48 are no whole groups, 60 columns not on all lanes; results without dimensions and computed matrices stay.
// CHECK-LABEL: module @others
// CHECK-COUNT-4: top.MatMul
// CHECK-NOT: top.A16MatMul
module @others attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x3x64xf32>) -> tensor<1x60x64xf32> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x3x64xf32>) -> tensor<1x3x64xf32> loc("x")
    %w0 = "top.Weight"() : () -> tensor<48x64xf32> loc("random_48x64")
    %w1 = "top.Weight"() : () -> tensor<64x60xf32> loc("random_64x60")
    %w2 = "top.Weight"() : () -> tensor<64x64xf32> loc("random_64x64")
    %s = "top.Slice"(%0, %n, %n, %n) {axes = [], ends = [1, 3, 48], offset = [0, 0, 0], steps = [1, 1, 1]} : (tensor<1x3x64xf32>, none, none, none) -> tensor<1x3x48xf32> loc("s")
    %a = "top.MatMul"(%s, %w0, %n) {} : (tensor<1x3x48xf32>, tensor<48x64xf32>, none) -> tensor<1x3x64xf32> loc("a")
    %b = "top.MatMul"(%a, %w1, %n) {} : (tensor<1x3x64xf32>, tensor<64x60xf32>, none) -> tensor<1x3x60xf32> loc("b")
    %c = "top.MatMul"(%0, %w2, %n) {keep_dims = false} : (tensor<1x3x64xf32>, tensor<64x64xf32>, none) -> tensor<3x64xf32> loc("c")
    %d = "top.MatMul"(%b, %0, %n) {left_transpose = true} : (tensor<1x3x60xf32>, tensor<1x3x64xf32>, none) -> tensor<1x60x64xf32> loc("d")
    return %d : tensor<1x60x64xf32>
  }
}
