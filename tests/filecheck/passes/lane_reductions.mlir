// RUN: tpu-opt %s --split-input-file --lane-moves --no-locations | filecheck %s

// Rows lie over the lanes: columns do while rows are added up, and the result is a row.
// CHECK-LABEL: module @rows
// CHECK: [[A:%.*]] = "tpu.Relu"
// CHECK-NEXT: [[B:%.*]] = "tpu.Rearrange"([[A]]) {{.*}}in_lanes = true{{.*}} -> tensor<1x56x196xf16>
// CHECK-NEXT: [[C:%.*]] = "tpu.Reduce"([[B]],{{.*}}axes = [2]{{.*}}keepdims = true{{.*}} -> tensor<1x56x1xf16>
// CHECK-NEXT: [[D:%.*]] = "tpu.Rearrange"([[C]]) {{.*}}in_lanes = true{{.*}} -> tensor<1x1x56xf16>
// CHECK-NEXT: "tpu.Mul"([[A]], [[D]])
module @rows attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x196x56xf16>) -> tensor<1x196x56xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x196x56xf16>) -> tensor<1x196x56xf16> loc("x")
    %1 = "tpu.Relu"(%0) : (tensor<1x196x56xf16>) -> tensor<1x196x56xf16> loc("a")
    %2 = "tpu.Reduce"(%1, %n, %n) {axes = [1], keepdims = true, mode = "ReduceSum"} : (tensor<1x196x56xf16>, none, none) -> tensor<1x1x56xf16> loc("b")
    %3 = "tpu.Mul"(%1, %2) : (tensor<1x196x56xf16>, tensor<1x1x56xf16>) -> tensor<1x196x56xf16> loc("c")
    return %3 : tensor<1x196x56xf16>
  }
}

// -----

// All pixels of an image.
// CHECK-LABEL: module @pixels
// CHECK: "tpu.Rearrange"{{.*}} -> tensor<2x96x49xf16>
// CHECK-NEXT: "tpu.Reduce"{{.*}} -> tensor<2x96x1xf16>
// CHECK-NEXT: "tpu.Rearrange"{{.*}} -> tensor<2x96xf16>
module @pixels attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<2x7x7x96xf16>) -> tensor<2x96xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<2x7x7x96xf16>) -> tensor<2x7x7x96xf16> loc("x")
    %1 = "tpu.Relu"(%0) : (tensor<2x7x7x96xf16>) -> tensor<2x7x7x96xf16> loc("a")
    %2 = "tpu.Reduce"(%1, %n, %n) {axes = [1, 2], keepdims = false, mode = "ReduceMean"} : (tensor<2x7x7x96xf16>, none, none) -> tensor<2x96xf16> loc("b")
    %3 = "tpu.Relu"(%2) : (tensor<2x96xf16>) -> tensor<2x96xf16> loc("c")
    return %3 : tensor<2x96xf16>
  }
}

// -----

// The result is read in another shape: its columns are a row on their way into other lanes.
// CHECK-LABEL: module @seen
// CHECK: "tpu.Rearrange"{{.*}} -> tensor<4x384x128xf16>
// CHECK-NEXT: [[R:%.*]] = "tpu.Reduce"{{.*}} -> tensor<4x384x1xf16>
// CHECK-NEXT: [[T:%.*]] = "tpu.Rearrange"([[R]]){{.*}} -> tensor<4x1x384xf16>
// CHECK-NEXT: [[S:%.*]] = "tpu.Rearrange"([[T]]){{.*}} -> tensor<1x64x24xf16>
// CHECK-NEXT: "tpu.Relu"([[S]])
module @seen attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<4x128x384xf16>) -> tensor<1x64x24xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<4x128x384xf16>) -> tensor<4x128x384xf16> loc("x")
    %1 = "tpu.Relu"(%0) : (tensor<4x128x384xf16>) -> tensor<4x128x384xf16> loc("a")
    %2 = "tpu.Reduce"(%1, %n, %n) {axes = [1], keepdims = false, mode = "ReduceSum"} : (tensor<4x128x384xf16>, none, none) -> tensor<4x384xf16> loc("b")
    %3 = "tpu.Reshape"(%2) {shape = [1, 64, 24]} : (tensor<4x384xf16>) -> tensor<1x64x24xf16> loc("v")
    %4 = "tpu.Relu"(%3) : (tensor<1x64x24xf16>) -> tensor<1x64x24xf16> loc("c")
    return %4 : tensor<1x64x24xf16>
  }
}

// -----

// One column becomes one number, which is where it is wanted already.
// CHECK-LABEL: module @number
// CHECK: "tpu.Relu"
// CHECK-NEXT: "tpu.Rearrange"{{.*}} -> tensor<1x1x3136xf16>
// CHECK-NEXT: [[A:%.*]] = "tpu.Reduce"{{.*}}axes = [2]{{.*}} -> tensor<1x1x1xf16>
// CHECK-NEXT: "tpu.Relu"([[A]])
module @number attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x3136x1xf16>) -> tensor<1x1x1xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x3136x1xf16>) -> tensor<1x3136x1xf16> loc("x")
    %1 = "tpu.Relu"(%0) : (tensor<1x3136x1xf16>) -> tensor<1x3136x1xf16> loc("a")
    %2 = "tpu.Reduce"(%1, %n, %n) {axes = [1], keepdims = true, mode = "ReduceL2"} : (tensor<1x3136x1xf16>, none, none) -> tensor<1x1x1xf16> loc("b")
    %3 = "tpu.Relu"(%2) : (tensor<1x1x1xf16>) -> tensor<1x1x1xf16> loc("c")
    return %3 : tensor<1x1x1xf16>
  }
}

// -----

// Columns are in their lanes already; of an input that nothing computes the kernel by itself does it.
// CHECK-LABEL: module @others
// CHECK-NOT: "tpu.Rearrange"
module @others attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x196x56xf16>) -> tensor<1x196x56xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x196x56xf16>) -> tensor<1x196x56xf16> loc("x")
    %1 = "tpu.Reduce"(%0, %n, %n) {axes = [1], keepdims = true, mode = "ReduceSum"} : (tensor<1x196x56xf16>, none, none) -> tensor<1x1x56xf16> loc("a")
    %2 = "tpu.Add"(%0, %1) : (tensor<1x196x56xf16>, tensor<1x1x56xf16>) -> tensor<1x196x56xf16> loc("b")
    %3 = "tpu.Reduce"(%2, %n, %n) {axes = [2], keepdims = true, mode = "ReduceSum"} : (tensor<1x196x56xf16>, none, none) -> tensor<1x196x1xf16> loc("c")
    %4 = "tpu.Mul"(%2, %3) : (tensor<1x196x56xf16>, tensor<1x196x1xf16>) -> tensor<1x196x56xf16> loc("d")
    return %4 : tensor<1x196x56xf16>
  }
}

// -----

// Local memory does not hold the rows beside what they are turned to: each lane has some that follow
// each other.
// CHECK-LABEL: module @many
// CHECK: [[A:%.*]] = "tpu.Relu"
// CHECK-NEXT: [[B:%.*]] = "tpu.Reshape"([[A]]) {{.*}} -> tensor<64x65x1024xf16>
// CHECK-NEXT: [[C:%.*]] = "tpu.Reduce"([[B]],{{.*}}axes = [1]{{.*}}keepdims = true{{.*}} -> tensor<64x1x1024xf16>
// CHECK-NEXT: [[D:%.*]] = "tpu.Reshape"([[C]]) {{.*}} -> tensor<1x64x1024xf16>
// CHECK-NEXT: [[E:%.*]] = "tpu.Reduce"([[D]],{{.*}}axes = [1]{{.*}}keepdims = true{{.*}} -> tensor<1x1x1024xf16>
// CHECK-NEXT: "tpu.Reshape"([[E]]) {{.*}} -> tensor<1x1024xf16>
module @many attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x4160x1024xf16>) -> tensor<1x1024xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x4160x1024xf16>) -> tensor<1x4160x1024xf16> loc("x")
    %1 = "tpu.Relu"(%0) : (tensor<1x4160x1024xf16>) -> tensor<1x4160x1024xf16> loc("a")
    %2 = "tpu.Reduce"(%1, %n, %n) {axes = [1], keepdims = false, mode = "ReduceL2"} : (tensor<1x4160x1024xf16>, none, none) -> tensor<1x1024xf16> loc("b")
    %3 = "tpu.Relu"(%2) : (tensor<1x1024xf16>) -> tensor<1x1024xf16> loc("c")
    return %3 : tensor<1x1024xf16>
  }
}

// -----

// It just holds them.
// CHECK-LABEL: module @most
// CHECK: "tpu.Rearrange"{{.*}} -> tensor<1x1024x4096xf16>
module @most attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x4096x1024xf16>) -> tensor<1x1x1024xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x4096x1024xf16>) -> tensor<1x4096x1024xf16> loc("x")
    %1 = "tpu.Relu"(%0) : (tensor<1x4096x1024xf16>) -> tensor<1x4096x1024xf16> loc("a")
    %2 = "tpu.Reduce"(%1, %n, %n) {axes = [1], keepdims = true, mode = "ReduceL2"} : (tensor<1x4096x1024xf16>, none, none) -> tensor<1x1x1024xf16> loc("b")
    %3 = "tpu.Relu"(%2) : (tensor<1x1x1024xf16>) -> tensor<1x1x1024xf16> loc("c")
    return %3 : tensor<1x1x1024xf16>
  }
}

// -----

// Not as many for each lane.
// CHECK-LABEL: module @uneven
// CHECK: [[A:%.*]] = "tpu.Relu"
// CHECK-NEXT: "tpu.Reduce"([[A]],
module @uneven attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x4161x1024xf16>) -> tensor<1x1x1024xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x4161x1024xf16>) -> tensor<1x4161x1024xf16> loc("x")
    %1 = "tpu.Relu"(%0) : (tensor<1x4161x1024xf16>) -> tensor<1x4161x1024xf16> loc("a")
    %2 = "tpu.Reduce"(%1, %n, %n) {axes = [1], keepdims = true, mode = "ReduceL2"} : (tensor<1x4161x1024xf16>, none, none) -> tensor<1x1x1024xf16> loc("b")
    %3 = "tpu.Relu"(%2) : (tensor<1x1x1024xf16>) -> tensor<1x1x1024xf16> loc("c")
    return %3 : tensor<1x1x1024xf16>
  }
}
