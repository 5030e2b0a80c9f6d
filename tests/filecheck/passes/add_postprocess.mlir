// RUN: tpu-opt %s --split-input-file --add-postprocess="type=yolov8" --verify-diagnostics | filecheck %s
// RUN: tpu-opt %s --split-input-file --add-postprocess | filecheck %s --check-prefix=NONE
// RUN: tpu-opt %s --split-input-file --add-postprocess="type=yolov5" --verify-diagnostics 2>&1 | filecheck %s --check-prefix=ROWS

// NONE-NOT: top.TopK

// Columns of a box and two classes, two images of three boxes: rounds for all but the best box.
// CHECK-LABEL: @columns
// CHECK: func.func @main({{.*}}) -> tensor<2x1x3x7xf32>
// CHECK: "top.Slice"{{.*}}ends = [1, 4, 3]{{.*}}offset = [0, 0, 0]{{.*}} loc("y_0_places")
// CHECK: "top.Slice"{{.*}}ends = [1, 6, 3]{{.*}}offset = [0, 4, 0]{{.*}} loc("y_0_scores")
// CHECK: "top.Arg"{{.*}} -> (tensor<1x3xsi32>, tensor<1x3xf32>) loc(fused["y_0_kind", "y_0_best"])
// CHECK: "top.TopK"{{.*}}K = 3{{.*}} -> (tensor<1x3xf32>, tensor<1x3xsi32>)
// CHECK: "top.Gather"{{.*}} -> tensor<1x4x3xf32> loc("y_0_box")
// CHECK: "top.CompareConst"{{.*}}const_val = 5.000000e-01{{.*}} loc("y_0_valid")
// CHECK: "top.Compare"{{.*}}mode = "Greater"{{.*}} -> tensor<1x3x3xf32> loc("y_0_overlap")
// CHECK: "top.MatMul"{{.*}}do_relu = true{{.*}}tensor<1x1x4xf32>, tensor<1x4x4xf32>{{.*}} loc("y_0_left_1")
// CHECK-NEXT: "top.MatMul"{{.*}} loc("y_0_left_2")
// CHECK-NOT: "y_0_left_3"
// CHECK: offset = [1, 0, 0]{{.*}} loc("y_1_places")
// CHECK: "top.Concat"{{.*}} -> tensor<2x3x7xf32> loc("y_images")
// CHECK-NEXT: "top.Reshape"{{.*}} -> tensor<2x1x3x7xf32> loc("y_boxes")
// ROWS: add-postprocess: output 'y' is 2x6x3, and yolov5 has images x boxes x (5 + classes)
module @columns {
  func.func @main(%arg0: tensor<2x6x3xf32>) -> tensor<2x6x3xf32> {
    %0 = "top.Input"(%arg0) : (tensor<2x6x3xf32>) -> tensor<2x6x3xf32> loc("x")
    %1 = "top.Relu"(%0) : (tensor<2x6x3xf32>) -> tensor<2x6x3xf32> loc("y")
    return %1 : tensor<2x6x3xf32>
  }
}

// -----

// Rows of a box, an object and one class; more boxes than are looked at. As columns they are four
// boxes of a box and 296 classes.
// CHECK-LABEL: @rows
// CHECK: -> tensor<1x1x6x7xf32>
// ROWS-LABEL: @rows
// ROWS: func.func @main({{.*}}) -> tensor<1x1x200x7xf32>
// ROWS: "top.Permute"{{.*}} -> tensor<1x6x300xf32> loc("y_columns")
// ROWS: "top.Mul"{{.*}} -> tensor<1x1x300xf32> loc("y_0_sure")
// ROWS: "top.TopK"{{.*}}K = 200
module @rows {
  func.func @main(%arg0: tensor<1x300x6xf32>) -> tensor<1x300x6xf32> {
    %0 = "top.Input"(%arg0) : (tensor<1x300x6xf32>) -> tensor<1x300x6xf32> loc("x")
    %1 = "top.Relu"(%0) : (tensor<1x300x6xf32>) -> tensor<1x300x6xf32> loc("y")
    return %1 : tensor<1x300x6xf32>
  }
}

// -----

// A detector that ends in maps.
// CHECK: add-postprocess: yolov8 has one output, images x (4 + classes) x boxes, and this network has 1x255x8x8; 1x255x4x4
module @maps {
  func.func @main(%arg0: tensor<1x255x8x8xf32>, %arg1: tensor<1x255x4x4xf32>) -> (tensor<1x255x8x8xf32>, tensor<1x255x4x4xf32>) {
    %0 = "top.Input"(%arg0) : (tensor<1x255x8x8xf32>) -> tensor<1x255x8x8xf32> loc("x")
    %1 = "top.Input"(%arg1) : (tensor<1x255x4x4xf32>) -> tensor<1x255x4x4xf32> loc("z")
    return %0, %1 : tensor<1x255x8x8xf32>, tensor<1x255x4x4xf32>
  }
}
