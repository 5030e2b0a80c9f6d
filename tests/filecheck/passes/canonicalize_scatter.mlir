// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --shape-infer --canonicalize --no-locations | filecheck %s

// Assignments to slices, which exporters write as ScatterND.

// Row 1 of three: what lies around it stays.
func.func @row(%arg_x: tensor<3x8xf32>, %arg_y: tensor<1x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<3x8xf32>) -> tensor<3x8xf32> loc("x")
  %y = "top.Input"(%arg_y) : (tensor<1x8xf32>) -> tensor<1x8xf32> loc("y")
  %i = "top.Weight"() : () -> tensor<1x1xf32> loc("ones_1x1")
  %z = "top.ScatterND"(%x, %i, %y) : (tensor<3x8xf32>, tensor<1x1xf32>, tensor<1x8xf32>) -> tensor<*xf32> loc("z")
  return %z : tensor<*xf32>
}

// CHECK-LABEL: func.func @row
// CHECK: [[X:%.*]] = "top.Input"(%arg0)
// CHECK-NEXT: [[Y:%.*]] = "top.Input"(%arg1)
// CHECK-NEXT: [[A:%.*]] = "top.Slice"([[X]], {{.*}}ends = [1, {{[0-9]+}}]{{.*}}offset = [0, 0]{{.*}}-> tensor<1x8xf32>
// CHECK-NEXT: [[B:%.*]] = "top.Slice"([[X]], {{.*}}ends = [3, {{[0-9]+}}]{{.*}}offset = [2, 0]{{.*}}-> tensor<1x8xf32>
// CHECK-NEXT: [[Z:%.*]] = "top.Concat"([[A]], [[Y]], [[B]]){{.*}}axis = 0{{.*}}-> tensor<3x8xf32>
// CHECK: return

// -----

// Every second row: the axis becomes two.
func.func @every_second(%arg_x: tensor<6x8xf32>, %arg_y: tensor<3x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<6x8xf32>) -> tensor<6x8xf32> loc("x")
  %y = "top.Input"(%arg_y) : (tensor<3x8xf32>) -> tensor<3x8xf32> loc("y")
  %i = "top.Weight"() : () -> tensor<3x1xf32> loc("steps_3x1")
  %z = "top.ScatterND"(%x, %i, %y) : (tensor<6x8xf32>, tensor<3x1xf32>, tensor<3x8xf32>) -> tensor<*xf32> loc("z")
  return %z : tensor<*xf32>
}

// CHECK-LABEL: func.func @every_second
// CHECK: "top.Concat"({{.*}}axis = 1{{.*}}-> tensor<3x2x8xf32>
// CHECK-NEXT: "top.Reshape"({{.*}}-> tensor<6x8xf32>

// -----

// All there is: the updates are the result.
func.func @whole(%arg_x: tensor<1x8xf32>, %arg_y: tensor<1x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x8xf32>) -> tensor<1x8xf32> loc("x")
  %y = "top.Input"(%arg_y) : (tensor<1x8xf32>) -> tensor<1x8xf32> loc("y")
  %i = "top.Weight"() : () -> tensor<1x1xf32> loc("zeros_1x1")
  %z = "top.ScatterND"(%x, %i, %y) : (tensor<1x8xf32>, tensor<1x1xf32>, tensor<1x8xf32>) -> tensor<*xf32> loc("z")
  %s = "top.Sin"(%z) : (tensor<*xf32>) -> tensor<*xf32> loc("s")
  return %s : tensor<*xf32>
}

// CHECK-LABEL: func.func @whole
// CHECK: [[Y:%.*]] = "top.Input"(%arg1)
// CHECK-NEXT: "top.Sin"([[Y]])

// -----

// A row too many for every second one.
func.func @rest(%arg_x: tensor<7x8xf32>, %arg_y: tensor<3x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<7x8xf32>) -> tensor<7x8xf32> loc("x")
  %y = "top.Input"(%arg_y) : (tensor<3x8xf32>) -> tensor<3x8xf32> loc("y")
  %i = "top.Weight"() : () -> tensor<3x1xf32> loc("steps_3x1")
  %z = "top.ScatterND"(%x, %i, %y) : (tensor<7x8xf32>, tensor<3x1xf32>, tensor<3x8xf32>) -> tensor<*xf32> loc("z")
  return %z : tensor<*xf32>
}

// CHECK-LABEL: func.func @rest
// CHECK: "top.ScatterND"

// -----

// One row three times: the last one counts.
func.func @repeated(%arg_x: tensor<6x8xf32>, %arg_y: tensor<3x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<6x8xf32>) -> tensor<6x8xf32> loc("x")
  %y = "top.Input"(%arg_y) : (tensor<3x8xf32>) -> tensor<3x8xf32> loc("y")
  %i = "top.Weight"() : () -> tensor<3x1xf32> loc("ones_3x1")
  %z = "top.ScatterND"(%x, %i, %y) : (tensor<6x8xf32>, tensor<3x1xf32>, tensor<3x8xf32>) -> tensor<*xf32> loc("z")
  return %z : tensor<*xf32>
}

// CHECK-LABEL: func.func @repeated
// CHECK: "top.ScatterND"

// -----

// Updates are added to what is there.
func.func @added(%arg_x: tensor<3x8xf32>, %arg_y: tensor<1x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<3x8xf32>) -> tensor<3x8xf32> loc("x")
  %y = "top.Input"(%arg_y) : (tensor<1x8xf32>) -> tensor<1x8xf32> loc("y")
  %i = "top.Weight"() : () -> tensor<1x1xf32> loc("ones_1x1")
  %z = "top.ScatterND"(%x, %i, %y) {reduction = 1 : i32} : (tensor<3x8xf32>, tensor<1x1xf32>, tensor<1x8xf32>) -> tensor<*xf32> loc("z")
  return %z : tensor<*xf32>
}

// CHECK-LABEL: func.func @added
// CHECK: "top.ScatterND"

// -----

// Elements that are rows 1 of all columns.
func.func @elements(%arg_x: tensor<3x8xf32>, %arg_y: tensor<1x1xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<3x8xf32>) -> tensor<3x8xf32> loc("x")
  %y = "top.Input"(%arg_y) : (tensor<1x1xf32>) -> tensor<1x1xf32> loc("y")
  %i = "top.Weight"() : () -> tensor<1x1xf32> loc("ones_1x1")
  %z = "top.ScatterElements"(%x, %i, %y) {axis = 0 : i64} : (tensor<3x8xf32>, tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<*xf32> loc("z")
  return %z : tensor<*xf32>
}

// CHECK-LABEL: func.func @elements
// CHECK: [[X:%.*]] = "top.Input"(%arg0)
// CHECK: [[Y:%.*]] = "top.Input"(%arg1)
// CHECK: [[A:%.*]] = "top.Slice"([[X]], {{.*}}-> tensor<1x8xf32>
// CHECK: [[B:%.*]] = "top.Slice"([[X]], {{.*}}-> tensor<1x8xf32>
// CHECK: [[R:%.*]] = "top.Slice"({{.*}}-> tensor<1x7xf32>
// CHECK: [[W:%.*]] = "top.Concat"([[Y]], [[R]]){{.*}}axis = 1{{.*}}-> tensor<1x8xf32>
// CHECK: "top.Concat"([[A]], [[W]], [[B]]){{.*}}axis = 0{{.*}}-> tensor<3x8xf32>

// -----

// A row of a Concat is that of its operand; what is left for one Slice is of the operands that this
// has rows of.
func.func @rows(%arg_x: tensor<3x8xf32>, %arg_y: tensor<1x8xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<3x8xf32>) -> tensor<3x8xf32> loc("x")
  %y = "top.Input"(%arg_y) : (tensor<1x8xf32>) -> tensor<1x8xf32> loc("y")
  %c = "top.Concat"(%x, %y, %x) {axis = 0 : si32} : (tensor<3x8xf32>, tensor<1x8xf32>, tensor<3x8xf32>) -> tensor<*xf32> loc("c")
  %r = "top.Slice"(%c, %n, %n, %n) {offset = [4, 0], ends = [5, 8], steps = [1, 1]} : (tensor<*xf32>, none, none, none) -> tensor<*xf32> loc("r")
  %s = "top.Slice"(%c, %n, %n, %n) {offset = [3, 0], ends = [5, 8], steps = [1, 1]} : (tensor<*xf32>, none, none, none) -> tensor<*xf32> loc("s")
  return %r, %s : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @rows
// CHECK: [[X:%.*]] = "top.Input"(%arg0)
// CHECK: [[Y:%.*]] = "top.Input"(%arg1)
// CHECK-DAG: [[R:%.*]] = "top.Slice"([[X]], {{.*}}offset = [0, 0]{{.*}}-> tensor<1x8xf32>
// CHECK-DAG: [[C:%.*]] = "top.Concat"([[Y]], [[X]]){{.*}}-> tensor<4x8xf32>
// CHECK: [[S:%.*]] = "top.Slice"([[C]], {{.*}}offset = [0, 0]{{.*}}-> tensor<2x8xf32>
// CHECK: return [[R]], [[S]]

// -----

// Concats of one axis are one; that of another axis stays.
func.func @joined(%arg_x: tensor<3x8xf32>, %arg_y: tensor<1x8xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<3x8xf32>) -> tensor<3x8xf32> loc("x")
  %y = "top.Input"(%arg_y) : (tensor<1x8xf32>) -> tensor<1x8xf32> loc("y")
  %c = "top.Concat"(%x, %y) {axis = 0 : si32} : (tensor<3x8xf32>, tensor<1x8xf32>) -> tensor<*xf32> loc("c")
  %s = "top.Slice"(%c, %n, %n, %n) {offset = [2, 0], ends = [4, 8], steps = [1, 1]} : (tensor<*xf32>, none, none, none) -> tensor<*xf32> loc("s")
  %d = "top.Concat"(%s, %c) {axis = 0 : si32} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32> loc("d")
  %e = "top.Concat"(%d, %d) {axis = 1 : si32} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32> loc("e")
  return %e : tensor<*xf32>
}

// CHECK-LABEL: func.func @joined
// CHECK: [[X:%.*]] = "top.Input"(%arg0)
// CHECK: [[Y:%.*]] = "top.Input"(%arg1)
// CHECK: [[S:%.*]] = "top.Slice"([[X]], {{.*}}offset = [2, 0]{{.*}}-> tensor<1x8xf32>
// CHECK: [[D:%.*]] = "top.Concat"([[S]], [[Y]], [[X]], [[Y]]){{.*}}axis = 0{{.*}}-> tensor<6x8xf32>
// CHECK-NEXT: "top.Concat"([[D]], [[D]]){{.*}}axis = 1
