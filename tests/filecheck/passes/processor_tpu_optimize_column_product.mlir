// RUN: tpu-opt %s --split-input-file --processor-tpu-optimize --no-locations | filecheck %s

// One column for each of many matrices: element by element, each matrix in a lane of its own.
// CHECK-LABEL: module @column
// CHECK: %[[X:.*]] = "tpu.Reshape"(%{{.*}}) {{.*}}-> tensor<1x64x64x9xf16>
// CHECK-NEXT: %[[Y:.*]] = "tpu.Reshape"(%{{.*}}) {{.*}}-> tensor<1x64x1x9xf16>
// CHECK-NEXT: %[[P:.*]] = "tpu.Mul"(%[[X]], %[[Y]]) {{.*}}-> tensor<1x64x64x9xf16>
// CHECK-NEXT: "tpu.Reduce"(%[[P]], {{.*}}axes = [3]{{.*}}"ReduceSum"{{.*}}-> tensor<1x64x64x1xf16>
// CHECK-NEXT: "tpu.Reshape"{{.*}}-> tensor<64x64x1xf16>
// CHECK-NEXT: return
module @column attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<64x64x9xf16>, %arg1: tensor<64x9x1xf16>) -> tensor<64x64x1xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<64x64x9xf16>) -> tensor<64x64x9xf16> loc("x")
    %1 = "top.Input"(%arg1) : (tensor<64x9x1xf16>) -> tensor<64x9x1xf16> loc("y")
    %2 = "tpu.MatMul"(%0, %1, %n, %n, %n) : (tensor<64x64x9xf16>, tensor<64x9x1xf16>, none, none, none) -> tensor<64x64x1xf16> loc("z")
    return %2 : tensor<64x64x1xf16>
  }
}

// -----

// Fewer matrices than rows: the rows are spread over the lanes.
// CHECK-LABEL: module @few
// CHECK: "tpu.MatMul"
module @few attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<63x64x9xf16>, %arg1: tensor<63x9x1xf16>) -> tensor<63x64x1xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<63x64x9xf16>) -> tensor<63x64x9xf16> loc("x")
    %1 = "top.Input"(%arg1) : (tensor<63x9x1xf16>) -> tensor<63x9x1xf16> loc("y")
    %2 = "tpu.MatMul"(%0, %1, %n, %n, %n) : (tensor<63x64x9xf16>, tensor<63x9x1xf16>, none, none, none) -> tensor<63x64x1xf16> loc("z")
    return %2 : tensor<63x64x1xf16>
  }
}

// -----

// Two columns.
// CHECK-LABEL: module @columns
// CHECK: "tpu.MatMul"
module @columns attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<64x64x9xf16>, %arg1: tensor<64x9x2xf16>) -> tensor<64x64x2xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<64x64x9xf16>) -> tensor<64x64x9xf16> loc("x")
    %1 = "top.Input"(%arg1) : (tensor<64x9x2xf16>) -> tensor<64x9x2xf16> loc("y")
    %2 = "tpu.MatMul"(%0, %1, %n, %n, %n) : (tensor<64x64x9xf16>, tensor<64x9x2xf16>, none, none, none) -> tensor<64x64x2xf16> loc("z")
    return %2 : tensor<64x64x2xf16>
  }
}

// -----

// Fewer matrices than rows, but one for each lane.
// CHECK-LABEL: module @lanes
// CHECK: "tpu.Mul"
// CHECK-NOT: tpu.MatMul
module @lanes attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<64x65x9xf16>, %arg1: tensor<64x9x1xf16>) -> tensor<64x65x1xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<64x65x9xf16>) -> tensor<64x65x9xf16> loc("x")
    %1 = "top.Input"(%arg1) : (tensor<64x9x1xf16>) -> tensor<64x9x1xf16> loc("y")
    %2 = "tpu.MatMul"(%0, %1, %n, %n, %n) : (tensor<64x65x9xf16>, tensor<64x9x1xf16>, none, none, none) -> tensor<64x65x1xf16> loc("z")
    return %2 : tensor<64x65x1xf16>
  }
}

// -----

// One row before each matrix: its columns are summed.
// CHECK-LABEL: module @row
// CHECK: %[[X:.*]] = "tpu.Reshape"(%{{.*}}) {{.*}}-> tensor<1x64x9x80xf16>
// CHECK-NEXT: %[[Y:.*]] = "tpu.Reshape"(%{{.*}}) {{.*}}-> tensor<1x64x9x1xf16>
// CHECK-NEXT: %[[P:.*]] = "tpu.Mul"(%[[X]], %[[Y]]) {{.*}}-> tensor<1x64x9x80xf16>
// CHECK-NEXT: "tpu.Reduce"(%[[P]], {{.*}}axes = [2]{{.*}}"ReduceSum"{{.*}}-> tensor<1x64x1x80xf16>
// CHECK-NEXT: "tpu.Reshape"{{.*}}-> tensor<64x1x80xf16>
module @row attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<64x9x80xf16>, %arg1: tensor<64x1x9xf16>) -> tensor<64x1x80xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<64x9x80xf16>) -> tensor<64x9x80xf16> loc("x")
    %1 = "top.Input"(%arg1) : (tensor<64x1x9xf16>) -> tensor<64x1x9xf16> loc("y")
    %2 = "tpu.MatMul"(%1, %0, %n, %n, %n) : (tensor<64x1x9xf16>, tensor<64x9x80xf16>, none, none, none) -> tensor<64x1x80xf16> loc("z")
    return %2 : tensor<64x1x80xf16>
  }
}

// -----

// Several matrices meet one column.
// CHECK-LABEL: module @several
// CHECK: %[[X:.*]] = "tpu.Reshape"(%{{.*}}) {{.*}}-> tensor<1x64x48x9xf16>
// CHECK-NEXT: %[[Y:.*]] = "tpu.Reshape"(%{{.*}}) {{.*}}-> tensor<1x64x1x9xf16>
// CHECK-NEXT: %[[P:.*]] = "tpu.Mul"(%[[X]], %[[Y]]) {{.*}}-> tensor<1x64x48x9xf16>
// CHECK-NEXT: %[[S:.*]] = "tpu.Reduce"(%[[P]]
// CHECK-NEXT: %[[R:.*]] = "tpu.Relu"(%[[S]])
// CHECK-NEXT: "tpu.Reshape"(%[[R]]) {{.*}}-> tensor<64x3x16x1xf16>
module @several attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<64x3x16x9xf16>, %arg1: tensor<64x1x9x1xf16>) -> tensor<64x3x16x1xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<64x3x16x9xf16>) -> tensor<64x3x16x9xf16> loc("x")
    %1 = "top.Input"(%arg1) : (tensor<64x1x9x1xf16>) -> tensor<64x1x9x1xf16> loc("y")
    %2 = "tpu.MatMul"(%0, %1, %n, %n, %n) {do_relu = true} : (tensor<64x3x16x9xf16>, tensor<64x1x9x1xf16>, none, none, none) -> tensor<64x3x16x1xf16> loc("z")
    return %2 : tensor<64x3x16x1xf16>
  }
}

// -----

// A matrix that meets several columns comes once.
// CHECK-LABEL: module @several_columns
// CHECK: "tpu.MatMul"
module @several_columns attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<64x1x16x9xf16>, %arg1: tensor<64x3x9x1xf16>) -> tensor<64x3x16x1xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<64x1x16x9xf16>) -> tensor<64x1x16x9xf16> loc("x")
    %1 = "top.Input"(%arg1) : (tensor<64x3x9x1xf16>) -> tensor<64x3x9x1xf16> loc("y")
    %2 = "tpu.MatMul"(%0, %1, %n, %n, %n) : (tensor<64x1x16x9xf16>, tensor<64x3x9x1xf16>, none, none, none) -> tensor<64x3x16x1xf16> loc("z")
    return %2 : tensor<64x3x16x1xf16>
  }
}
