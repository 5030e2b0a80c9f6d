// RUN: tpu-opt %s --split-input-file --fold-blocks="chip=bm1684x" --no-locations | filecheck %s

// Three channels fill a twentieth of the lanes: blocks of 4 x 4 pixels become channels, and go where
// they belong then.
// CHECK-LABEL: module @few
// CHECK: [[X:%.+]] = "top.Input"
// CHECK: [[W:%.+]] = "top.Weight"() : () -> tensor<48x64x6x6xf32>
// CHECK-NEXT: [[B:%.+]] = "top.Weight"() : () -> tensor<48xf32>
// CHECK-NEXT: [[C:%.+]] = "top.Conv"([[X]], [[W]], [[B]]) {{.*}}kernel_shape = [6, 6], pads = [1, 1, 1, 1]{{.*}}strides = [4, 4]
// CHECK-SAME: -> tensor<1x48x32x32xf32>
// CHECK-NEXT: [[Y:%.+]] = "top.Depth2Space"([[C]]) {block_h = 4 : i64, block_w = 4 : i64, {{.*}}is_CRD = false
// CHECK-SAME: -> tensor<1x3x128x128xf32>
// CHECK-NEXT: return [[Y]]
module @few attributes {module.state = "TOP_F32", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x64x128x128xf32>) -> tensor<1x3x128x128xf32> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x64x128x128xf32>) -> tensor<1x64x128x128xf32> loc("x")
    %w = "top.Weight"() : () -> tensor<3x64x3x3xf32> loc("w")
    %b = "top.Weight"() : () -> tensor<3xf32> loc("b")
    %1 = "top.Conv"(%0, %w, %b) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1]} : (tensor<1x64x128x128xf32>, tensor<3x64x3x3xf32>, tensor<3xf32>) -> tensor<1x3x128x128xf32> loc("y")
    return %1 : tensor<1x3x128x128xf32>
  }
}

// -----

// More than half the lanes are filled by single pixels.
// CHECK-LABEL: module @many
// CHECK: "top.Conv"
// CHECK-NOT: "top.Depth2Space"
module @many attributes {module.state = "TOP_F32", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x64x128x128xf32>) -> tensor<1x33x128x128xf32> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x64x128x128xf32>) -> tensor<1x64x128x128xf32> loc("x")
    %w = "top.Weight"() : () -> tensor<33x64x3x3xf32> loc("w")
    %1 = "top.Conv"(%0, %w, %n) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1]} : (tensor<1x64x128x128xf32>, tensor<33x64x3x3xf32>, none) -> tensor<1x33x128x128xf32> loc("y")
    return %1 : tensor<1x33x128x128xf32>
  }
}

// -----

// Half of them: two pixels at once. Bytes are cast to floats for it.
// CHECK-LABEL: module @bytes
// CHECK: "top.Conv"
// CHECK: "top.Depth2Space"
module @bytes attributes {module.state = "TOP_F32", module.mode = "INT8"} {
  func.func @main(%arg0: tensor<1x64x128x128xf32>) -> tensor<1x32x128x128xf32> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x64x128x128xf32>) -> tensor<1x64x128x128xf32> loc("x")
    %w = "top.Weight"() : () -> tensor<32x64x3x3xf32> loc("w")
    %1 = "top.Conv"(%0, %w, %n) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1]} : (tensor<1x64x128x128xf32>, tensor<32x64x3x3xf32>, none) -> tensor<1x32x128x128xf32> loc("y")
    return %1 : tensor<1x32x128x128xf32>
  }
}

// -----

// Small images are not worth that.
// CHECK-LABEL: module @few_bytes
// CHECK: "top.Conv"
// CHECK-NOT: "top.Depth2Space"
module @few_bytes attributes {module.state = "TOP_F32", module.mode = "INT8"} {
  func.func @main(%arg0: tensor<1x64x16x32xf32>) -> tensor<1x3x16x32xf32> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x64x16x32xf32>) -> tensor<1x64x16x32xf32> loc("x")
    %w = "top.Weight"() : () -> tensor<3x64x3x3xf32> loc("w")
    %1 = "top.Conv"(%0, %w, %n) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1]} : (tensor<1x64x16x32xf32>, tensor<3x64x3x3xf32>, none) -> tensor<1x3x16x32xf32> loc("y")
    return %1 : tensor<1x3x16x32xf32>
  }
}

// -----

// 16 of 80 outputs would have a round of the lanes for themselves: four pixels of them fill it.
// CHECK-LABEL: module @rest
// CHECK: [[X:%.+]] = "top.Input"
// CHECK: [[A:%.+]] = "top.Conv"([[X]], {{.*}}kernel_shape = [3, 3]{{.*}} -> tensor<1x64x80x80xf32>
// CHECK: [[B:%.+]] = "top.Conv"([[X]], {{.*}}kernel_shape = [4, 4]{{.*}}strides = [2, 2]{{.*}} -> tensor<1x64x40x40xf32>
// CHECK-NEXT: [[C:%.+]] = "top.SiLU"([[A]])
// CHECK-NEXT: [[D:%.+]] = "top.SiLU"([[B]])
// CHECK-NEXT: [[E:%.+]] = "top.Depth2Space"([[D]]) {{.*}} -> tensor<1x16x80x80xf32>
// CHECK-NEXT: [[Y:%.+]] = "top.Concat"([[C]], [[E]]) {axis = 1 : si32
// CHECK-NEXT: return [[Y]]
module @rest attributes {module.state = "TOP_F32", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x64x80x80xf32>) -> tensor<1x80x80x80xf32> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x64x80x80xf32>) -> tensor<1x64x80x80xf32> loc("x")
    %w = "top.Weight"() : () -> tensor<80x64x3x3xf32> loc("w")
    %1 = "top.Conv"(%0, %w, %n) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1]} : (tensor<1x64x80x80xf32>, tensor<80x64x3x3xf32>, none) -> tensor<1x80x80x80xf32> loc("y")
    %2 = "top.SiLU"(%1) : (tensor<1x80x80x80xf32>) -> tensor<1x80x80x80xf32> loc("z")
    return %2 : tensor<1x80x80x80xf32>
  }
}

// -----

// More than half of them, or a single tap, are left alone.
// CHECK-LABEL: module @enough
// CHECK-COUNT-2: "top.Conv"
// CHECK-NOT: "top.Depth2Space"
module @enough attributes {module.state = "TOP_F32", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x64x80x80xf32>) -> (tensor<1x97x80x80xf32>, tensor<1x80x80x80xf32>) {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x64x80x80xf32>) -> tensor<1x64x80x80xf32> loc("x")
    %w = "top.Weight"() : () -> tensor<97x64x3x3xf32> loc("w")
    %v = "top.Weight"() : () -> tensor<80x64x1x1xf32> loc("v")
    %1 = "top.Conv"(%0, %w, %n) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1]} : (tensor<1x64x80x80xf32>, tensor<97x64x3x3xf32>, none) -> tensor<1x97x80x80xf32> loc("y")
    %2 = "top.Conv"(%0, %v, %n) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1]} : (tensor<1x64x80x80xf32>, tensor<80x64x1x1xf32>, none) -> tensor<1x80x80x80xf32> loc("z")
    return %1, %2 : tensor<1x97x80x80xf32>, tensor<1x80x80x80xf32>
  }
}

// -----

// The four pixels that each of the input makes are computed by points; an odd number of rows has no
// such blocks.
// CHECK-LABEL: module @transposed
// CHECK: [[X:%.+]] = "top.Input"
// CHECK: [[A:%.+]] = "top.Conv"([[X]], {{.*}}kernel_shape = [1, 1], pads = [0, 0, 0, 0]{{.*}}strides = [1, 1]{{.*}} -> tensor<1x256x32x32xf32>
// CHECK-NEXT: [[Y:%.+]] = "top.Depth2Space"([[A]]) {{.*}} -> tensor<1x64x64x64xf32>
// CHECK: [[Z:%.+]] = "top.Deconv"([[X]]
// CHECK-NEXT: return [[Y]], [[Z]]
module @transposed attributes {module.state = "TOP_F32", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x64x32x32xf32>) -> (tensor<1x64x64x64xf32>, tensor<1x64x63x64xf32>) {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x64x32x32xf32>) -> tensor<1x64x32x32xf32> loc("x")
    %w = "top.Weight"() : () -> tensor<64x64x2x2xf32> loc("w")
    %1 = "top.Deconv"(%0, %w, %n) {kernel_shape = [2, 2], pads = [0, 0, 0, 0], strides = [2, 2]} : (tensor<1x64x32x32xf32>, tensor<64x64x2x2xf32>, none) -> tensor<1x64x64x64xf32> loc("y")
    %2 = "top.Deconv"(%0, %w, %n) {kernel_shape = [2, 2], pads = [1, 0, 0, 0], strides = [2, 2]} : (tensor<1x64x32x32xf32>, tensor<64x64x2x2xf32>, none) -> tensor<1x64x63x64xf32> loc("z")
    return %1, %2 : tensor<1x64x64x64xf32>, tensor<1x64x63x64xf32>
  }
}

// -----

// Each of four pixels sees four others of the input, which are not the same ones.
// CHECK-LABEL: module @parts
// CHECK: [[X:%.+]] = "top.Input"
// CHECK: [[A:%.+]] = "top.Conv"([[X]], {{.*}}kernel_shape = [2, 2], pads = [1, 1, 0, 0]{{.*}} -> tensor<1x64x32x32xf32>
// CHECK: [[B:%.+]] = "top.Conv"([[X]], {{.*}}kernel_shape = [2, 2], pads = [1, 0, 0, 1]{{.*}} -> tensor<1x64x32x32xf32>
// CHECK: [[C:%.+]] = "top.Conv"([[X]], {{.*}}kernel_shape = [2, 2], pads = [0, 1, 1, 0]{{.*}} -> tensor<1x64x32x32xf32>
// CHECK: [[D:%.+]] = "top.Conv"([[X]], {{.*}}kernel_shape = [2, 2], pads = [0, 0, 1, 1]{{.*}} -> tensor<1x64x32x32xf32>
// CHECK-NEXT: [[J:%.+]] = "top.Concat"([[A]], [[B]], [[C]], [[D]]) {{.*}} -> tensor<1x256x32x32xf32>
// CHECK-NEXT: [[Y:%.+]] = "top.Depth2Space"([[J]]) {{.*}} -> tensor<1x64x64x64xf32>
// CHECK-NEXT: return [[Y]]
module @parts attributes {module.state = "TOP_F32", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x64x32x32xf32>) -> tensor<1x64x64x64xf32> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x64x32x32xf32>) -> tensor<1x64x32x32xf32> loc("x")
    %w = "top.Weight"() : () -> tensor<64x64x4x4xf32> loc("w")
    %1 = "top.Deconv"(%0, %w, %n) {kernel_shape = [4, 4], pads = [1, 1, 1, 1], strides = [2, 2]} : (tensor<1x64x32x32xf32>, tensor<64x64x4x4xf32>, none) -> tensor<1x64x64x64xf32> loc("y")
    return %1 : tensor<1x64x64x64xf32>
  }
}

// -----

// Of a line, too: each step of eight is computed from two of the input, not the same two.
// CHECK-LABEL: module @line
// CHECK: [[X:%.+]] = "top.Input"
// CHECK: [[I:%.+]] = "top.Reshape"([[X]]) {{.*}} -> tensor<1x128x50x1xf32>
// CHECK: [[A:%.+]] = "top.Conv"([[I]], {{.*}}kernel_shape = [2, 1], pads = [1, 0, 0, 0]{{.*}}strides = [1, 1]{{.*}} -> tensor<1x256x50x1xf32>
// CHECK: [[B:%.+]] = "top.Conv"([[I]], {{.*}}kernel_shape = [2, 1], pads = [0, 0, 1, 0]{{.*}}strides = [1, 1]{{.*}} -> tensor<1x256x50x1xf32>
// CHECK-NEXT: [[J:%.+]] = "top.Concat"([[A]], [[B]])
// CHECK-NEXT: [[Y:%.+]] = "top.Depth2Space"([[J]]) {block_h = 8 : i64, block_w = 1 : i64, {{.*}} -> tensor<1x64x400x1xf32>
// CHECK-NEXT: "top.Reshape"([[Y]]) {{.*}} -> tensor<1x64x400xf32>
module @line attributes {module.state = "TOP_F32", module.mode = "INT8"} {
  func.func @main(%arg0: tensor<1x128x50xf32>) -> tensor<1x64x400xf32> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x128x50xf32>) -> tensor<1x128x50xf32> loc("x")
    %w = "top.Weight"() : () -> tensor<64x128x16xf32> loc("w")
    %1 = "top.Deconv"(%0, %w, %n) {kernel_shape = [16], pads = [4, 4], strides = [8]} : (tensor<1x128x50xf32>, tensor<64x128x16xf32>, none) -> tensor<1x64x400xf32> loc("y")
    return %1 : tensor<1x64x400xf32>
  }
}
