module @softshrink attributes {module.chip = "ALL", module.platform = "ONNX", module.state = "TOP_F32", module.top_run_mode = "STATIC", module.weight_file = "softshrink_top_f32_all_origin_weight.npz"} {
  func.func @main(%arg0: tensor<1x8x6x5xf32>) -> tensor<1x8x6x5xf32> {
    %0 = "top.Input"(%arg0) : (tensor<1x8x6x5xf32>) -> tensor<1x8x6x5xf32> loc("x")
    %1 = "extras.SoftShrink"(%0) {bound = 5.000000e-01 : f64} : (tensor<1x8x6x5xf32>) -> tensor<1x8x6x5xf32> loc("y")
    return %1 : tensor<1x8x6x5xf32>
  }
}
