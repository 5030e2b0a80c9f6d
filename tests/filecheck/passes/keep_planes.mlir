// RUN: tpu-opt %s --split-input-file --keep-planes --no-locations | filecheck %s

// What is between two convolutions is done plane by plane, with its channels as they are.
// CHECK-LABEL: module @element
// CHECK-NOT: "tpu.Permute"
// CHECK: %[[Y:.*]] = "tpu.LeakyRelu"(%{{.*}}) {{.*}}: (tensor<1x5x32x64xf16>) -> tensor<1x5x32x64xf16>
// CHECK-NEXT: return %[[Y]]
module @element attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x160x8x8xf16>) -> tensor<1x5x32x64xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %x = "top.Input"(%arg0) : (tensor<1x160x8x8xf16>) -> tensor<1x160x8x8xf16> loc("x")
    %0 = "tpu.Reshape"(%x) {shape = [1, 5, 32, 64]} : (tensor<1x160x8x8xf16>) -> tensor<1x5x32x64xf16> loc("a")
    %1 = "tpu.Permute"(%0, %n) {order = [0, 2, 1, 3]} : (tensor<1x5x32x64xf16>, none) -> tensor<1x32x5x64xf16> loc("b")
    %2 = "tpu.Reshape"(%1) {shape = [1, 32, 5, 8, 8]} : (tensor<1x32x5x64xf16>) -> tensor<1x32x5x8x8xf16> loc("c")
    %3 = "tpu.LeakyRelu"(%2) {alpha = 0.1 : f64} : (tensor<1x32x5x8x8xf16>) -> tensor<1x32x5x8x8xf16> loc("d")
    %4 = "tpu.Reshape"(%3) {shape = [1, 32, 5, 64]} : (tensor<1x32x5x8x8xf16>) -> tensor<1x32x5x64xf16> loc("e")
    %5 = "tpu.Permute"(%4, %n) {order = [0, 2, 1, 3]} : (tensor<1x32x5x64xf16>, none) -> tensor<1x5x32x64xf16> loc("f")
    return %5 : tensor<1x5x32x64xf16>
  }
}

// -----

// A group of a norm has the same channels of all planes: moments of each are averaged.
// CHECK-LABEL: module @norm
// CHECK-NOT: "tpu.Permute"
// CHECK-NOT: "tpu.GroupNorm"
// CHECK: "tpu.Reduce"{{.*}}-> tensor<1x160x8x1xf32>
// CHECK: "tpu.Conv2D"{{.*}}(tensor<1x160x1x1xf32>, tensor<8x160x1x1xf32>, none) -> tensor<1x8x1x1xf32>
// CHECK: "tpu.Conv2D"{{.*}}(tensor<1x8x1x1xf32>, tensor<160x8x1x1xf32>, none) -> tensor<1x160x1x1xf32>
// CHECK-NOT: "tpu.Permute"
module @norm attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x160x8x8xf16>) -> tensor<1x5x32x64xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %x = "top.Input"(%arg0) : (tensor<1x160x8x8xf16>) -> tensor<1x160x8x8xf16> loc("x")
    %0 = "tpu.Reshape"(%x) {shape = [1, 5, 32, 64]} : (tensor<1x160x8x8xf16>) -> tensor<1x5x32x64xf16> loc("a")
    %1 = "tpu.Permute"(%0, %n) {order = [0, 2, 1, 3]} : (tensor<1x5x32x64xf16>, none) -> tensor<1x32x5x64xf16> loc("b")
    %2 = "tpu.Reshape"(%1) {shape = [1, 32, 5, 8, 8]} : (tensor<1x32x5x64xf16>) -> tensor<1x32x5x8x8xf16> loc("c")
    %3 = "tpu.GroupNorm"(%2, %n, %n, %n, %n) {num_groups = 8 : i64, eps = 1.0e-05 : f64} : (tensor<1x32x5x8x8xf16>, none, none, none, none) -> tensor<1x32x5x8x8xf16> loc("d")
    %4 = "tpu.Reshape"(%3) {shape = [1, 32, 5, 64]} : (tensor<1x32x5x8x8xf16>) -> tensor<1x32x5x64xf16> loc("e")
    %5 = "tpu.Permute"(%4, %n) {order = [0, 2, 1, 3]} : (tensor<1x32x5x64xf16>, none) -> tensor<1x5x32x64xf16> loc("f")
    return %5 : tensor<1x5x32x64xf16>
  }
}

// -----

// Nobody takes planes: the channels are put together first, as they would be afterwards.
// CHECK-LABEL: module @not_taken
// CHECK: "tpu.Permute"
// CHECK: "tpu.LeakyRelu"{{.*}}-> tensor<1x32x5x8x8xf16>
module @not_taken attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x160x8x8xf16>) -> tensor<1x32x5x8x8xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %x = "top.Input"(%arg0) : (tensor<1x160x8x8xf16>) -> tensor<1x160x8x8xf16> loc("x")
    %0 = "tpu.Reshape"(%x) {shape = [1, 5, 32, 64]} : (tensor<1x160x8x8xf16>) -> tensor<1x5x32x64xf16> loc("a")
    %1 = "tpu.Permute"(%0, %n) {order = [0, 2, 1, 3]} : (tensor<1x5x32x64xf16>, none) -> tensor<1x32x5x64xf16> loc("b")
    %2 = "tpu.Reshape"(%1) {shape = [1, 32, 5, 8, 8]} : (tensor<1x32x5x64xf16>) -> tensor<1x32x5x8x8xf16> loc("c")
    %3 = "tpu.LeakyRelu"(%2) {alpha = 0.1 : f64} : (tensor<1x32x5x8x8xf16>) -> tensor<1x32x5x8x8xf16> loc("d")
    return %3 : tensor<1x32x5x8x8xf16>
  }
}

// -----

// Heads are no volumes.
// CHECK-LABEL: module @heads
// CHECK: "tpu.Permute"
// CHECK: "tpu.Relu"{{.*}}-> tensor<1x32x5x64xf16>
// CHECK: "tpu.Permute"
module @heads attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x5x32x64xf16>) -> tensor<1x5x32x64xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %x = "top.Input"(%arg0) : (tensor<1x5x32x64xf16>) -> tensor<1x5x32x64xf16> loc("x")
    %1 = "tpu.Permute"(%x, %n) {order = [0, 2, 1, 3]} : (tensor<1x5x32x64xf16>, none) -> tensor<1x32x5x64xf16> loc("b")
    %3 = "tpu.Relu"(%1) : (tensor<1x32x5x64xf16>) -> tensor<1x32x5x64xf16> loc("d")
    %5 = "tpu.Permute"(%3, %n) {order = [0, 2, 1, 3]} : (tensor<1x32x5x64xf16>, none) -> tensor<1x5x32x64xf16> loc("f")
    return %5 : tensor<1x5x32x64xf16>
  }
}

// -----

// Of a sum both sides must be there by planes.
// CHECK-LABEL: module @one_side
// CHECK: "tpu.Add"{{.*}}-> tensor<1x32x5x8x8xf16>
// CHECK: "tpu.Permute"
module @one_side attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x160x8x8xf16>, %arg1: tensor<1x32x5x8x8xf16>) -> tensor<1x5x32x64xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %x = "top.Input"(%arg0) : (tensor<1x160x8x8xf16>) -> tensor<1x160x8x8xf16> loc("x")
    %y = "top.Input"(%arg1) : (tensor<1x32x5x8x8xf16>) -> tensor<1x32x5x8x8xf16> loc("y")
    %0 = "tpu.Reshape"(%x) {shape = [1, 5, 32, 64]} : (tensor<1x160x8x8xf16>) -> tensor<1x5x32x64xf16> loc("a")
    %1 = "tpu.Permute"(%0, %n) {order = [0, 2, 1, 3]} : (tensor<1x5x32x64xf16>, none) -> tensor<1x32x5x64xf16> loc("b")
    %2 = "tpu.Reshape"(%1) {shape = [1, 32, 5, 8, 8]} : (tensor<1x32x5x64xf16>) -> tensor<1x32x5x8x8xf16> loc("c")
    %3 = "tpu.Add"(%2, %y) : (tensor<1x32x5x8x8xf16>, tensor<1x32x5x8x8xf16>) -> tensor<1x32x5x8x8xf16> loc("d")
    %4 = "tpu.Reshape"(%3) {shape = [1, 32, 5, 64]} : (tensor<1x32x5x8x8xf16>) -> tensor<1x32x5x64xf16> loc("e")
    %5 = "tpu.Permute"(%4, %n) {order = [0, 2, 1, 3]} : (tensor<1x32x5x64xf16>, none) -> tensor<1x5x32x64xf16> loc("f")
    return %5 : tensor<1x5x32x64xf16>
  }
}

// -----

// A mean of all planes and a gate of channels are of images; one gate for each of two videos is not.
// CHECK-LABEL: module @gate
// CHECK: [[I:%.*]] = "top.Input"{{.*}}-> tensor<5x32x8x8xf16>
// CHECK: [[A:%.*]] = "tpu.Reduce"{{.*}}axes = [2, 3]{{.*}}(tensor<5x32x8x8xf16>, none, none) -> tensor<5x32x1x1xf16>
// CHECK: "tpu.Permute"{{.*}}-> tensor<1x32x5x1xf16>
// CHECK: [[B:%.*]] = "tpu.Reduce"{{.*}}axes = [2]{{.*}}-> tensor<1x32x1x1xf16>
// CHECK: "tpu.Mul"({{.*}}) {{.*}}(tensor<5x32x8x8xf16>, tensor<1x32x1x1xf16>) -> tensor<5x32x8x8xf16>
// CHECK-NOT: "tpu.Permute"
// CHECK-LABEL: module @gates
// CHECK: "tpu.Mul"({{.*}}) {{.*}}(tensor<2x32x5x64xf16>, tensor<2x32x1x1xf16>)
module @gate attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<5x32x8x8xf16>) -> tensor<1x5x32x64xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %x = "top.Input"(%arg0) : (tensor<5x32x8x8xf16>) -> tensor<5x32x8x8xf16> loc("x")
    %0 = "tpu.Reshape"(%x) {shape = [1, 5, 32, 64]} : (tensor<5x32x8x8xf16>) -> tensor<1x5x32x64xf16> loc("a")
    %1 = "tpu.Permute"(%0, %n) {order = [0, 2, 1, 3]} : (tensor<1x5x32x64xf16>, none) -> tensor<1x32x5x64xf16> loc("b")
    %2 = "tpu.Reduce"(%1, %n, %n) {axes = [2, 3], keepdims = true, mode = "ReduceMean"} : (tensor<1x32x5x64xf16>, none, none) -> tensor<1x32x1x1xf16> loc("c")
    %3 = "tpu.Mul"(%1, %2) : (tensor<1x32x5x64xf16>, tensor<1x32x1x1xf16>) -> tensor<1x32x5x64xf16> loc("d")
    %4 = "tpu.Permute"(%3, %n) {order = [0, 2, 1, 3]} : (tensor<1x32x5x64xf16>, none) -> tensor<1x5x32x64xf16> loc("e")
    return %4 : tensor<1x5x32x64xf16>
  }
}

// -----

module @gates attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<10x32x8x8xf16>, %arg1: tensor<2x32x1x1xf16>) -> tensor<2x5x32x64xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %x = "top.Input"(%arg0) : (tensor<10x32x8x8xf16>) -> tensor<10x32x8x8xf16> loc("x")
    %g = "top.Input"(%arg1) : (tensor<2x32x1x1xf16>) -> tensor<2x32x1x1xf16> loc("g")
    %0 = "tpu.Reshape"(%x) {shape = [2, 5, 32, 64]} : (tensor<10x32x8x8xf16>) -> tensor<2x5x32x64xf16> loc("a")
    %1 = "tpu.Permute"(%0, %n) {order = [0, 2, 1, 3]} : (tensor<2x5x32x64xf16>, none) -> tensor<2x32x5x64xf16> loc("b")
    %3 = "tpu.Mul"(%1, %g) : (tensor<2x32x5x64xf16>, tensor<2x32x1x1xf16>) -> tensor<2x32x5x64xf16> loc("d")
    %4 = "tpu.Permute"(%3, %n) {order = [0, 2, 1, 3]} : (tensor<2x32x5x64xf16>, none) -> tensor<2x5x32x64xf16> loc("e")
    return %4 : tensor<2x5x32x64xf16>
  }
}
