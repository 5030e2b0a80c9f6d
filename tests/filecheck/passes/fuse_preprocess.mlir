// RUN: tpu-opt %s --fuse-preprocess="mode=F16 customization_format=RGB_PACKED align=false" | filecheck %s
// RUN: tpu-opt %s --fuse-preprocess | filecheck %s --check-prefix=SAME
// RUN: not tpu-opt %s --fuse-preprocess="customization_format=YUV_NV12" 2>&1 | filecheck %s --check-prefix=YUV
// RUN: not tpu-opt %s --fuse-preprocess="align=true" 2>&1 | filecheck %s --check-prefix=ALIGN

// The channels of a packed RGB image come first and turn to BGR, its middle stays.
// CHECK: func.func @main(%arg0: tensor<1x8x6x3xf32>
// CHECK: "top.Input"(%arg0) {{.*}}mean = [0.000000e+00, 0.000000e+00, 0.000000e+00]{{.*}} loc("x_raw")
// CHECK-NEXT: "top.Permute"({{.*}}) {order = [0, 3, 1, 2]} : (tensor<1x8x6x3xf32>) -> tensor<1x3x8x6xf32> loc("x_planar")
// CHECK: "top.Slice"{{.*}}offset = [0, 0, 2, 1]{{.*}} -> tensor<1x3x4x4xf32> loc("x_crop")
// CHECK: loc("x_b")
// CHECK: loc("x_g")
// CHECK: loc("x_r")
// CHECK: "top.Concat"{{.*}} loc("x_bgr")
// CHECK: "top.Scale"{{.*}} loc("x")
// CHECK: "top.Relu"{{.*}} loc("y")

// In the network's own format only the middle is taken and scaled; what is no image stays, and so
// does what needs nothing.
// SAME: func.func @main(%arg0: tensor<1x3x8x6xf32>{{.*}}, %arg1: tensor<4xf32>
// SAME-NOT: top.Permute
// SAME-NOT: top.Concat
// SAME: loc("x_crop")
// SAME: "top.Input"(%arg1){{.*}} loc("ids")
// SAME: "top.Input"(%arg2){{.*}} loc("ready")

// YUV: error: fuse-preprocess: customization_format YUV_NV12 is not supported; these are: RGB_PLANAR
// ALIGN: error: fuse-preprocess: align=true is not supported
module attributes {module.weight_file = "none.npz"} {
  func.func @main(%arg0: tensor<1x3x4x4xf32>, %arg1: tensor<4xf32>, %arg2: tensor<1x3x4x4xf32>) -> (tensor<1x3x4x4xf32>, tensor<4xf32>, tensor<1x3x4x4xf32>) {
    %0 = "top.Input"(%arg0) {channel_format = "nchw", do_preprocess = true, keep_aspect_ratio = false, keep_ratio_mode = "letterbox", mean = [1.0, 2.0, 3.0], pad_type = "center", pad_value = 0 : i64, pixel_format = "bgr", resize_dims = [8, 6], scale = [0.5, 0.25, 2.0]} : (tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32> loc("x")
    %1 = "top.Relu"(%0) : (tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32> loc("y")
    %2 = "top.Input"(%arg1) : (tensor<4xf32>) -> tensor<4xf32> loc("ids")
    %3 = "top.Input"(%arg2) {channel_format = "nchw", do_preprocess = true, keep_aspect_ratio = false, keep_ratio_mode = "letterbox", mean = [0.0, 0.0, 0.0], pad_type = "center", pad_value = 0 : i64, pixel_format = "bgr", resize_dims = [4, 4], scale = [1.0, 1.0, 1.0]} : (tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32> loc("ready")
    return %1, %2, %3 : tensor<1x3x4x4xf32>, tensor<4xf32>, tensor<1x3x4x4xf32>
  }
}
