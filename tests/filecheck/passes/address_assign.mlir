// RUN: tpu-opt %s --subnet-divide --op-reorder --address-assign --verify-addresses | filecheck %s

// The weight moves to its user and gets the first address; activations follow on the next page.
// `a` and `c` are never needed together and share bytes; the reshape has its input's address.
// CHECK: module @net attributes {module.inputs = ["x"], module.outputs = ["d"], module.state = "TPU_ADDRESSED"} {
// CHECK-NEXT: module @net attributes {module.coeff_addr = 4294967296 : i64, module.coeff_size = 4096 : i64, module.device_id = 0 : i64, module.dynamic_coeff_offset = 4096 : i64, module.neuron_addr = 4294971392 : i64, module.neuron_size = 4096 : i64, module.step = 0 : i64} {
// CHECK-NEXT: func.func @main(%arg0: tensor<4x32xf32> loc(unknown)) -> tensor<128xf32, [[OUT:[0-9]+]] : i64> {
// CHECK-NEXT: [[X:%.*]] = "top.Input"(%arg0) : (tensor<4x32xf32>) -> tensor<4x32xf32, [[IN:[0-9]+]] : i64>
// CHECK-NEXT: [[Y:%.*]] = call @subfunc_0([[X]]) : (tensor<4x32xf32, [[IN]] : i64>) -> tensor<128xf32, [[OUT]] : i64>
// CHECK-NEXT: return [[Y]]
// CHECK: func.func @subfunc_0(%arg0: tensor<4x32xf32, [[IN]] : i64> loc("x")) -> tensor<128xf32, [[OUT]] : i64> attributes {id = 0 : i64, mode = #tpu<run_mode TPU_STATIC>, next_index = array<i32: -1>} {
// CHECK-NEXT: "tpu.Relu"{{.*}} -> tensor<4x32xf32, [[A:[0-9]+]] : i64>
// CHECK-NEXT: "top.Weight"() {path = "tpu.Add.1"} : () -> tensor<1x32xf32, 4294967296 : i64>
// CHECK-NEXT: "tpu.Add"{{.*}} -> tensor<4x32xf32, [[B:[0-9]+]] : i64>
// CHECK-NEXT: "tpu.Relu"{{.*}} -> tensor<4x32xf32, [[A]] : i64>
// CHECK-NEXT: "tpu.Reshape"{{.*}} -> tensor<128xf32, [[A]] : i64>
module @net attributes {module.state = "TPU_REORDERED"} {
  func.func @main(%arg0: tensor<4x32xf32>) -> tensor<128xf32> {
    %w = "top.Weight"() : () -> tensor<1x32xf32> loc("w")
    %0 = "top.Input"(%arg0) : (tensor<4x32xf32>) -> tensor<4x32xf32> loc("x")
    %1 = "tpu.Relu"(%0) : (tensor<4x32xf32>) -> tensor<4x32xf32> loc("a")
    %2 = "tpu.Add"(%1, %w) : (tensor<4x32xf32>, tensor<1x32xf32>) -> tensor<4x32xf32> loc("b")
    %3 = "tpu.Relu"(%2) : (tensor<4x32xf32>) -> tensor<4x32xf32> loc("c")
    %4 = "tpu.Reshape"(%3) {shape = [128]} : (tensor<4x32xf32>) -> tensor<128xf32> loc("d")
    return %4 : tensor<128xf32>
  }
}
