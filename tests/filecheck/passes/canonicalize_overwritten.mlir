// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --canonicalize --no-locations | filecheck %s
// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --canonicalize="disable=WriteBoxesOnce" --no-locations | filecheck %s --check-prefix=OFF

// Two writes into zeros, the second one over the last row of the first, with Permutes between.
func.func @written_over(%arg_x: tensor<3x8xf32>, %arg_y: tensor<2x8xf32>) -> tensor<8x5xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<3x8xf32>) -> tensor<3x8xf32> loc("x")
  %y = "top.Input"(%arg_y) : (tensor<2x8xf32>) -> tensor<2x8xf32> loc("y")
  %zeros = "top.Weight"() : () -> tensor<1x8xf32> loc("zeros_1x8")
  %a = "top.Concat"(%x, %zeros) {axis = 0 : si32} : (tensor<3x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32> loc("a")
  %b = "top.Permute"(%a) {order = [1, 0]} : (tensor<4x8xf32>) -> tensor<8x4xf32> loc("b")
  %c = "top.Slice"(%b, %n, %n, %n) {offset = [0, 1], ends = [8, 4], steps = [1, 1]} : (tensor<8x4xf32>, none, none, none) -> tensor<8x3xf32> loc("c")
  %d = "top.Permute"(%y) {order = [1, 0]} : (tensor<2x8xf32>) -> tensor<8x2xf32> loc("d")
  %e = "top.Concat"(%d, %c) {axis = 1 : si32} : (tensor<8x2xf32>, tensor<8x3xf32>) -> tensor<8x5xf32> loc("e")
  return %e : tensor<8x5xf32>
}

// CHECK-LABEL: func.func @written_over
// CHECK: [[X:%.*]] = "top.Input"(%arg0)
// CHECK-NEXT: [[Y:%.*]] = "top.Input"(%arg1)
// CHECK: [[S:%.*]] = "top.Slice"([[X]], {{.*}}offset = [1, 0]{{.*}}-> tensor<2x8xf32>
// CHECK-NOT: "top.Permute"
// CHECK: [[C:%.*]] = "top.Concat"([[Y]], [[S]], {{%.*}}){{.*}}axis = 0{{.*}}-> tensor<5x8xf32>
// CHECK-NEXT: "top.Permute"([[C]]){{.*}}-> tensor<8x5xf32>
// CHECK-NEXT: return
// OFF-LABEL: func.func @written_over
// OFF: "top.Permute"
// OFF: "top.Permute"
// OFF: "top.Concat"

// -----

// The shift of a TSM: along the first axis, here, of some of the columns. Zeros are a Pad.
func.func @shift(%arg_x: tensor<4x9xf32>) -> tensor<4x9xf32> {
  %n = "top.None"() : () -> none
  %in = "top.Input"(%arg_x) : (tensor<4x9xf32>) -> tensor<4x9xf32> loc("in")
  %x = "top.Abs"(%in) : (tensor<4x9xf32>) -> tensor<4x9xf32> loc("x")
  %p = "top.Slice"(%x, %n, %n, %n) {offset = [1, 0], ends = [4, 2], steps = [1, 1]} : (tensor<4x9xf32>, none, none, none) -> tensor<3x2xf32> loc("p")
  %pt = "top.Permute"(%p) {order = [1, 0]} : (tensor<3x2xf32>) -> tensor<2x3xf32> loc("pt")
  %a = "top.Pad"(%pt, %n) {paddings = [0, 0, 7, 1], mode = "constant"} : (tensor<2x3xf32>, none) -> tensor<9x4xf32> loc("a")
  %a0 = "top.Slice"(%a, %n, %n, %n) {offset = [0, 0], ends = [2, 4], steps = [1, 1]} : (tensor<9x4xf32>, none, none, none) -> tensor<2x4xf32> loc("a0")
  %q = "top.Slice"(%x, %n, %n, %n) {offset = [0, 2], ends = [4, 9], steps = [1, 1]} : (tensor<4x9xf32>, none, none, none) -> tensor<4x7xf32> loc("q")
  %qt = "top.Permute"(%q) {order = [1, 0]} : (tensor<4x7xf32>) -> tensor<7x4xf32> loc("qt")
  %b = "top.Concat"(%a0, %qt) {axis = 0 : si32} : (tensor<2x4xf32>, tensor<7x4xf32>) -> tensor<9x4xf32> loc("b")
  %c = "top.Permute"(%b) {order = [1, 0]} : (tensor<9x4xf32>) -> tensor<4x9xf32> loc("c")
  return %c : tensor<4x9xf32>
}

// CHECK-LABEL: func.func @shift
// CHECK: [[X:%.*]] = "top.Abs"
// CHECK-NEXT: [[P:%.*]] = "top.Slice"([[X]], {{.*}}-> tensor<3x2xf32>
// CHECK-NEXT: [[Q:%.*]] = "top.Slice"([[X]], {{.*}}-> tensor<4x7xf32>
// CHECK-NEXT: [[A:%.*]] = "top.Pad"([[P]], {{.*}}paddings = [0, 0, 1, 0]{{.*}}-> tensor<4x2xf32>
// CHECK-NEXT: [[C:%.*]] = "top.Concat"([[A]], [[Q]]){{.*}}axis = 1{{.*}}-> tensor<4x9xf32>
// CHECK-NEXT: return [[C]]
// OFF-LABEL: func.func @shift
// OFF: "top.Permute"

// -----

// What is read elsewhere, too, is made as before.
func.func @read_elsewhere(%arg_x: tensor<3x8xf32>, %arg_y: tensor<2x8xf32>) -> (tensor<8x5xf32>, tensor<4x8xf32>) {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<3x8xf32>) -> tensor<3x8xf32> loc("x")
  %y = "top.Input"(%arg_y) : (tensor<2x8xf32>) -> tensor<2x8xf32> loc("y")
  %zeros = "top.Weight"() : () -> tensor<1x8xf32> loc("zeros_1x8")
  %a = "top.Concat"(%x, %zeros) {axis = 0 : si32} : (tensor<3x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32> loc("a")
  %b = "top.Permute"(%a) {order = [1, 0]} : (tensor<4x8xf32>) -> tensor<8x4xf32> loc("b")
  %c = "top.Slice"(%b, %n, %n, %n) {offset = [0, 1], ends = [8, 4], steps = [1, 1]} : (tensor<8x4xf32>, none, none, none) -> tensor<8x3xf32> loc("c")
  %d = "top.Permute"(%y) {order = [1, 0]} : (tensor<2x8xf32>) -> tensor<8x2xf32> loc("d")
  %e = "top.Concat"(%d, %c) {axis = 1 : si32} : (tensor<8x2xf32>, tensor<8x3xf32>) -> tensor<8x5xf32> loc("e")
  return %e, %a : tensor<8x5xf32>, tensor<4x8xf32>
}

// CHECK-LABEL: func.func @read_elsewhere
// CHECK: "top.Pad"
// CHECK: "top.Permute"
// CHECK: "top.Slice"
// CHECK: "top.Permute"
// CHECK: "top.Concat"

// -----

// A value that is rolled along two axes is taken apart and put together: all of it is used.
func.func @rolled(%arg_x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<4x6xf32>) -> tensor<4x6xf32> loc("x")
  %a = "top.Slice"(%x, %n, %n, %n) {offset = [1, 0], ends = [4, 6], steps = [1, 1]} : (tensor<4x6xf32>, none, none, none) -> tensor<3x6xf32> loc("a")
  %b = "top.Slice"(%x, %n, %n, %n) {offset = [0, 0], ends = [1, 6], steps = [1, 1]} : (tensor<4x6xf32>, none, none, none) -> tensor<1x6xf32> loc("b")
  %c = "top.Concat"(%a, %b) {axis = 0 : si32} : (tensor<3x6xf32>, tensor<1x6xf32>) -> tensor<4x6xf32> loc("c")
  %d = "top.Slice"(%c, %n, %n, %n) {offset = [0, 2], ends = [4, 6], steps = [1, 1]} : (tensor<4x6xf32>, none, none, none) -> tensor<4x4xf32> loc("d")
  %e = "top.Slice"(%c, %n, %n, %n) {offset = [0, 0], ends = [4, 2], steps = [1, 1]} : (tensor<4x6xf32>, none, none, none) -> tensor<4x2xf32> loc("e")
  %f = "top.Concat"(%d, %e) {axis = 1 : si32} : (tensor<4x4xf32>, tensor<4x2xf32>) -> tensor<4x6xf32> loc("f")
  return %f : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @rolled
// CHECK: [[C:%.*]] = "top.Concat"({{.*}}axis = 0{{.*}}-> tensor<4x6xf32>
// CHECK-NEXT: [[D:%.*]] = "top.Slice"([[C]]
// CHECK-NEXT: [[E:%.*]] = "top.Slice"([[C]]
// CHECK-NEXT: "top.Concat"([[D]], [[E]]){{.*}}axis = 1

// -----

// One join in another order: nothing is written over.
func.func @one_join(%arg_x: tensor<3x8xf32>, %arg_y: tensor<2x8xf32>) -> tensor<8x5xf32> {
  %x = "top.Input"(%arg_x) : (tensor<3x8xf32>) -> tensor<3x8xf32> loc("x")
  %y = "top.Input"(%arg_y) : (tensor<2x8xf32>) -> tensor<2x8xf32> loc("y")
  %a = "top.Permute"(%x) {order = [1, 0]} : (tensor<3x8xf32>) -> tensor<8x3xf32> loc("a")
  %b = "top.Permute"(%y) {order = [1, 0]} : (tensor<2x8xf32>) -> tensor<8x2xf32> loc("b")
  %c = "top.Concat"(%a, %b) {axis = 1 : si32} : (tensor<8x3xf32>, tensor<8x2xf32>) -> tensor<8x5xf32> loc("c")
  return %c : tensor<8x5xf32>
}

// CHECK-LABEL: func.func @one_join
// CHECK: "top.Permute"
// CHECK-NEXT: "top.Permute"
// CHECK-NEXT: "top.Concat"

// -----

// Five dimensions, of which one is of size 1: the ops of the chip have four.
func.func @long(%arg_x: tensor<1x4x6x3x2xf32>) -> tensor<1x4x6x3x2xf32> {
  %n = "top.None"() : () -> none
  %in = "top.Input"(%arg_x) : (tensor<1x4x6x3x2xf32>) -> tensor<1x4x6x3x2xf32> loc("in")
  %x = "top.Abs"(%in) : (tensor<1x4x6x3x2xf32>) -> tensor<1x4x6x3x2xf32> loc("x")
  %a = "top.Slice"(%x, %n, %n, %n) {offset = [0, 1, 0, 0, 0], ends = [1, 4, 2, 3, 2], steps = [1, 1, 1, 1, 1]} : (tensor<1x4x6x3x2xf32>, none, none, none) -> tensor<1x3x2x3x2xf32> loc("a")
  %b = "top.Pad"(%a, %n) {paddings = [0, 0, 0, 0, 0, 0, 1, 0, 0, 0], mode = "constant"} : (tensor<1x3x2x3x2xf32>, none) -> tensor<1x4x2x3x2xf32> loc("b")
  %c = "top.Slice"(%x, %n, %n, %n) {offset = [0, 0, 2, 0, 0], ends = [1, 4, 6, 3, 2], steps = [1, 1, 1, 1, 1]} : (tensor<1x4x6x3x2xf32>, none, none, none) -> tensor<1x4x4x3x2xf32> loc("c")
  %d = "top.Concat"(%b, %c) {axis = 2 : si32} : (tensor<1x4x2x3x2xf32>, tensor<1x4x4x3x2xf32>) -> tensor<1x4x6x3x2xf32> loc("d")
  return %d : tensor<1x4x6x3x2xf32>
}

// CHECK-LABEL: func.func @long
// CHECK: "top.Pad"({{.*}}-> tensor<4x2x3x2xf32>
// CHECK: "top.Concat"({{.*}}-> tensor<4x6x3x2xf32>
// CHECK: "top.Reshape"({{.*}}-> tensor<1x4x6x3x2xf32>
// OFF-LABEL: func.func @long
// OFF: "top.Concat"({{.*}}-> tensor<1x4x6x3x2xf32>

// -----

// Ones around what is calibrated stay weights, which get numbers of their own.
func.func @calibrated(%arg_x: tensor<1x1x!quant.calibrated<f32<-2.0:2.0>>>) -> tensor<1x2x!quant.calibrated<f32<-2.0:2.0>>> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x1x!quant.calibrated<f32<-2.0:2.0>>>) -> tensor<1x1x!quant.calibrated<f32<-2.0:2.0>>> loc("x")
  %o = "top.Weight"() : () -> tensor<1x1xf32> loc("ones_1x1")
  %a = "top.Concat"(%x, %o) {axis = 0 : si32} : (tensor<1x1x!quant.calibrated<f32<-2.0:2.0>>>, tensor<1x1xf32>) -> tensor<2x1x!quant.calibrated<f32<-2.0:2.0>>> loc("a")
  %b = "top.Permute"(%a) {order = [1, 0]} : (tensor<2x1x!quant.calibrated<f32<-2.0:2.0>>>) -> tensor<1x2x!quant.calibrated<f32<-2.0:2.0>>> loc("b")
  %c = "top.Slice"(%b, %n, %n, %n) {offset = [0, 0], ends = [1, 1], steps = [1, 1]} : (tensor<1x2x!quant.calibrated<f32<-2.0:2.0>>>, none, none, none) -> tensor<1x1x!quant.calibrated<f32<-2.0:2.0>>> loc("c")
  %d = "top.Concat"(%c, %o) {axis = 1 : si32} : (tensor<1x1x!quant.calibrated<f32<-2.0:2.0>>>, tensor<1x1xf32>) -> tensor<1x2x!quant.calibrated<f32<-2.0:2.0>>> loc("d")
  return %d : tensor<1x2x!quant.calibrated<f32<-2.0:2.0>>>
}

// CHECK-LABEL: func.func @calibrated
// CHECK-NOT: "top.Pad"
// CHECK: "top.Concat"({{.*}}axis = 1{{.*}}-> tensor<1x2x!quant.calibrated<f32<-2.0
