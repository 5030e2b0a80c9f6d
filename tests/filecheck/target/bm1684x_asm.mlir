// RUN: tpu-opt %s --split-input-file -t bm1684x-asm | filecheck %s
// RUN: tpu-opt %s --split-input-file --print-debuginfo | xdsl-opt --split-input-file -t bm1684x-asm | filecheck %s

// 128 elements, 64 in a row, on two lanes: load, one instruction, store.
// CHECK: // 2 TIU commands, 3 GDMA commands
// CHECK-NEXT: .program "relu"
// CHECK-NEXT: .chip "BM1684X"
// CHECK-NEXT: .quantize "F32"
// CHECK-NEXT: .coefficients @0x100000000 size=0
// CHECK-NEXT: .arena @0x100000000 size=4096
// CHECK-NEXT: .input "x" [1,8,4,4]@0x100000200:f32
// CHECK-NEXT: .output "y" [1,8,4,4]@0x100000000:f32
// CHECK: .layer 0 tpu.Relu "y"
// CHECK-NEXT: DMA_matrix.matrix_copy id=1 dep=0 dst=[1,2,0,64]@[[X:0x8[0-9a-f]+]]{64,64,0,0} src=[0,0,1,128]@0x100000200:f32{0,0,128,0} stride_enable=1
// CHECK-NEXT: sAR.max id=1 dep=1 res0=[1,2,1,64]@{{.*}}:f32 opd0=@{{.*}}:f32 opd1=const 0.0:f32
// CHECK: DMA_matrix.matrix_copy id=2 dep=1 dst=[0,0,1,128]@0x100000000{0,0,128,0} src=[1,2,0,64]@[[Y:0x8[0-9a-f]+]]:f32{64,64,0,0} stride_enable=1
// CHECK: sDMA_sys.end_of_stream id=3 dep=0
module @relu attributes {module.mode = "F32"} {
  module @relu attributes {module.coeff_addr = 4294967296 : i64, module.coeff_size = 0 : i64, module.neuron_addr = 4294967296 : i64, module.neuron_size = 4096 : i64} {
    func.func @subfunc_0(%arg0: tensor<1x8x4x4xf32, 4294967808 : i64> loc("x")) -> tensor<1x8x4x4xf32, 4294967296 : i64> {
      %0 = "tpu.Relu"(%arg0) : (tensor<1x8x4x4xf32, 4294967808 : i64>) -> tensor<1x8x4x4xf32, 4294967296 : i64> loc("y")
      return %0 : tensor<1x8x4x4xf32, 4294967296 : i64>
    }
  }
}

// -----

// A limit is one more instruction, on the result of the first.
// CHECK-LABEL: .program "relu6"
// CHECK: sAR.max id=1 dep=1 res0=[1,1,1,128]@[[Y:0x[0-9a-f]+]]:f16 opd0=@{{.*}}:f16 opd1=const 0.0:f16
// CHECK-NEXT: sAR.min id=2 {{.*}}res0=[1,1,1,128]@{{.*}}:f16 opd0=@[[Y]]:f16 opd1=const 6.0:f16
module @relu6 attributes {module.mode = "F16"} {
  module @relu6 attributes {module.coeff_addr = 4294967296 : i64, module.coeff_size = 0 : i64, module.neuron_addr = 4294967296 : i64, module.neuron_size = 4096 : i64} {
    func.func @subfunc_0(%arg0: tensor<1x8x4x4xf16, 4294967808 : i64> loc("x")) -> tensor<1x8x4x4xf16, 4294967296 : i64> {
      %0 = "tpu.Relu"(%arg0) {relu_limit = 6.0 : f64} : (tensor<1x8x4x4xf16, 4294967808 : i64>) -> tensor<1x8x4x4xf16, 4294967296 : i64> loc("y")
      return %0 : tensor<1x8x4x4xf16, 4294967296 : i64>
    }
  }
}

// -----

// Both operands are loaded before the sum, which waits for the second load.
// CHECK-LABEL: .program "add"
// CHECK: DMA_matrix.matrix_copy id=1 dep=0 dst={{.*}}@[[A:0x8000[0-9a-f]+]]{{.*}} src={{.*}}@0x100000200:f32
// CHECK-NEXT: DMA_matrix.matrix_copy id=2 dep=0 dst={{.*}}@[[B:0x8000[0-9a-f]+]]{{.*}} src={{.*}}@0x100000400:f32
// CHECK-NEXT: sAR.add id=1 dep=2 res0=[1,2,1,64]@{{.*}}:f32 opd0=@{{.*}}:f32 opd1=@{{.*}}:f32
module @add attributes {module.mode = "F32"} {
  module @add attributes {module.coeff_addr = 4294967296 : i64, module.coeff_size = 0 : i64, module.neuron_addr = 4294967296 : i64, module.neuron_size = 4096 : i64} {
    func.func @subfunc_0(%arg0: tensor<1x8x4x4xf32, 4294967808 : i64> loc("x"), %arg1: tensor<1x8x4x4xf32, 4294968320 : i64> loc("z")) -> tensor<1x8x4x4xf32, 4294967296 : i64> {
      %0 = "tpu.Add"(%arg0, %arg1) : (tensor<1x8x4x4xf32, 4294967808 : i64>, tensor<1x8x4x4xf32, 4294968320 : i64>) -> tensor<1x8x4x4xf32, 4294967296 : i64> loc("y")
      return %0 : tensor<1x8x4x4xf32, 4294967296 : i64>
    }
  }
}

// -----

// A convolution with weights that are not there: filter, bias and input, one instruction, store.
// CHECK-LABEL: .program "conv"
// CHECK: .coefficients @0x100000000 size=16384
// CHECK-NOT: sha256
// CHECK: .layer 0 tpu.Conv2D "y"
// CHECK: src=[0,0,1,16]@0x100003000:f32
// CHECK: src=[0,0,1,4608]@0x100000000:f16
// CHECK: sCONV.conv_normal {{.*}} res0=[1,16,8,8]@{{.*}}:f16 opd0=[32,8,8]@{{.*}}:f16 opd1=[3,3]@{{.*}} opd2=@{{.*}} opd3=const 0x0 pad=[1,1,1,1] step=[1,1]
module @conv attributes {module.mode = "F16", module.weight_file = "not_there.npz"} {
  module @conv attributes {module.coeff_addr = 4294967296 : i64, module.coeff_size = 16384 : i64, module.neuron_addr = 4294983680 : i64, module.neuron_size = 12288 : i64} {
    func.func @subfunc_0(%arg0: tensor<1x32x8x8xf16, 4294983680 : i64> loc("x")) -> tensor<1x16x8x8xf16, 4294987776 : i64> {
      %1 = "top.Weight"() : () -> tensor<1x16x1x288xf16, 4294967296 : i64> loc("w")
      %2 = "top.Weight"() : () -> tensor<1x16x1x1xf32, 4294979584 : i64> loc("b")
      %3 = "tpu.Conv2D"(%arg0, %1, %2) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1], with_bias = true} : (tensor<1x32x8x8xf16, 4294983680 : i64>, tensor<1x16x1x288xf16, 4294967296 : i64>, tensor<1x16x1x1xf32, 4294979584 : i64>) -> tensor<1x16x8x8xf16, 4294987776 : i64> loc("y")
      return %3 : tensor<1x16x8x8xf16, 4294987776 : i64>
    }
  }
}

// -----

// 16-bit products run on MM2, whose right matrix is as it lies in memory.
// CHECK-LABEL: .program "matmul"
// CHECK: .layer 0 tpu.MatMul "y"
// CHECK: sMM2.mm2_nn id=1 {{.*}}res0=[16,32]@{{.*}}:f16 opd0=@{{.*}}:f16 opd1=[64,32]@{{.*}}
// CHECK: dst={{.*}}@0x100001800{
module @matmul attributes {module.mode = "F16"} {
  module @matmul attributes {module.coeff_addr = 4294967296 : i64, module.coeff_size = 4096 : i64, module.neuron_addr = 4294971392 : i64, module.neuron_size = 8192 : i64} {
    func.func @subfunc_0(%arg0: tensor<1x16x64xf16, 4294975488 : i64> loc("x")) -> tensor<1x16x32xf16, 4294973440 : i64> {
      %0 = "top.None"() : () -> none
      %1 = "top.Weight"() : () -> tensor<1x64x32xf16, 4294967296 : i64> loc("w")
      %2 = "tpu.MatMul"(%arg0, %1, %0, %0, %0) : (tensor<1x16x64xf16, 4294975488 : i64>, tensor<1x64x32xf16, 4294967296 : i64>, none, none, none) -> tensor<1x16x32xf16, 4294973440 : i64> loc("y")
      return %2 : tensor<1x16x32xf16, 4294973440 : i64>
    }
  }
}
