// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --processor-top-optimize --no-locations | filecheck %s

// Taps that are six pixels away see a third of the rows or columns; that in the middle sees all.
// CHECK-LABEL: func.func @apart
// CHECK: [[A:%.*]] = "top.Conv"(%{{[0-9]+}}, {{.*}}do_relu = false{{.*}}kernel_shape = [1, 1]{{.*}}tensor<4x3x1x1xf32>{{.*}} -> tensor<1x4x9x9xf32>
// CHECK: [[S:%.*]] = "top.Slice"{{.*}}ends = [1, 3, 3, 9]{{.*}}offset = [0, 0, 0, 0]{{.*}} -> tensor<1x3x3x9xf32>
// CHECK: [[C:%.*]] = "top.Conv"([[S]], {{.*}} -> tensor<1x4x3x9xf32>
// CHECK-NEXT: [[P:%.*]] = "top.Pad"([[C]]{{.*}}paddings = [0, 0, 6, 0, 0, 0, 0, 0]{{.*}} -> tensor<1x4x9x9xf32>
// CHECK-NEXT: "top.Add"([[A]], [[P]]){{.*}}do_relu = false
// CHECK: [[S:%.*]] = "top.Slice"{{.*}}offset = [0, 0, 6, 6]{{.*}} -> tensor<1x3x3x3xf32>
// CHECK: "top.Pad"{{.*}}paddings = [0, 0, 0, 0, 0, 0, 6, 6]
// CHECK-NEXT: "top.Add"{{.*}}do_relu = true
// CHECK-NEXT: return
builtin.module attributes {module.chip = "bm1684x"} {
  func.func @apart(%arg0: tensor<1x3x9x9xf32>) -> tensor<1x4x9x9xf32> {
    %n = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x3x9x9xf32>) -> tensor<1x3x9x9xf32> loc("x")
    %w = "top.Weight"() : () -> tensor<4x3x3x3xf32> loc("random_4x3x3x3")
    %y = "top.Conv"(%x, %w, %n) {kernel_shape = [3, 3], strides = [1, 1], pads = [6, 6, 6, 6], dilations = [6, 6], do_relu = true} : (tensor<1x3x9x9xf32>, tensor<4x3x3x3xf32>, none) -> tensor<1x4x9x9xf32> loc("y")
    return %y : tensor<1x4x9x9xf32>
  }
}

// -----

// Two pixels away they see most of the image.
// CHECK-LABEL: func.func @near
// CHECK-NOT: "top.Slice"
// CHECK: "top.Conv"{{.*}}dilations = [2, 2]
builtin.module attributes {module.chip = "bm1684x"} {
  func.func @near(%arg0: tensor<1x3x9x9xf32>) -> tensor<1x4x9x9xf32> {
    %n = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x3x9x9xf32>) -> tensor<1x3x9x9xf32> loc("x")
    %w = "top.Weight"() : () -> tensor<4x3x3x3xf32> loc("random_4x3x3x3")
    %y = "top.Conv"(%x, %w, %n) {kernel_shape = [3, 3], strides = [1, 1], pads = [2, 2, 2, 2], dilations = [2, 2]} : (tensor<1x3x9x9xf32>, tensor<4x3x3x3xf32>, none) -> tensor<1x4x9x9xf32> loc("y")
    return %y : tensor<1x4x9x9xf32>
  }
}

// -----

// Sums of parts have no ranges.
// CHECK-LABEL: func.func @bytes
// CHECK-NOT: "top.Slice"
// CHECK: "top.Conv"{{.*}}dilations = [6, 6]
builtin.module attributes {module.chip = "bm1684x", module.mode = "INT8"} {
  func.func @bytes(%arg0: tensor<1x3x9x9xf32>) -> tensor<1x4x9x9xf32> {
    %n = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x3x9x9xf32>) -> tensor<1x3x9x9xf32> loc("x")
    %w = "top.Weight"() : () -> tensor<4x3x3x3xf32> loc("random_4x3x3x3")
    %y = "top.Conv"(%x, %w, %n) {kernel_shape = [3, 3], strides = [1, 1], pads = [6, 6, 6, 6], dilations = [6, 6]} : (tensor<1x3x9x9xf32>, tensor<4x3x3x3xf32>, none) -> tensor<1x4x9x9xf32> loc("y")
    return %y : tensor<1x4x9x9xf32>
  }
}
