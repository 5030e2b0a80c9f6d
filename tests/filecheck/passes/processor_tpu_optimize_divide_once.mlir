// RUN: tpu-opt %s --processor-tpu-optimize --no-locations | filecheck %s

// DivideOnce: four rows of each channel are divided by the same row, inverted once; a row for all
// channels stays a divisor, and so does what others are divided by.
// CHECK-LABEL: module @shared
// CHECK: [[I:%.*]] = "tpu.Reciprocal"({{.*}}) {{.*}}-> tensor<1x3x1x8xf32>
// CHECK-NEXT: "tpu.Mul"({{.*}}, [[I]]) {{.*}}do_relu = true{{.*}}-> tensor<1x3x4x8xf32>
// CHECK-COUNT-2: "tpu.Div"
// CHECK-NOT: "tpu.Reciprocal"
module @shared attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x3x4x8xf32>, %arg1: tensor<1x3x1x8xf32>, %arg2: tensor<1x1x4x8xf32>) -> (tensor<1x3x4x8xf32>, tensor<1x3x4x8xf32>, tensor<1x3x4x8xf32>) {
    %0 = "top.Input"(%arg0) : (tensor<1x3x4x8xf32>) -> tensor<1x3x4x8xf32> loc("x")
    %1 = "top.Input"(%arg1) : (tensor<1x3x1x8xf32>) -> tensor<1x3x1x8xf32> loc("rows")
    %2 = "top.Input"(%arg2) : (tensor<1x1x4x8xf32>) -> tensor<1x1x4x8xf32> loc("image")
    %3 = "tpu.Div"(%0, %1) {do_relu = true} : (tensor<1x3x4x8xf32>, tensor<1x3x1x8xf32>) -> tensor<1x3x4x8xf32> loc("a")
    %4 = "tpu.Div"(%0, %2) : (tensor<1x3x4x8xf32>, tensor<1x1x4x8xf32>) -> tensor<1x3x4x8xf32> loc("b")
    %5 = "tpu.Div"(%0, %1) {is_reverse = true} : (tensor<1x3x4x8xf32>, tensor<1x3x1x8xf32>) -> tensor<1x3x4x8xf32> loc("c")
    return %3, %4, %5 : tensor<1x3x4x8xf32>, tensor<1x3x4x8xf32>, tensor<1x3x4x8xf32>
  }
}
