"""The flatbuffer tables of a bmodel as data (docs/hardware/bmodel.md#tables).

Each table is a tuple of fields in slot order; a field is "name:type" or "name:type=default".
Types: a scalar, `str`, the struct `Binary` or `RelEntry`, another table's name, or `[T]` of one
of these. Slots that no file was seen to use keep their place with their name.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Slot:
    """One field of a table."""

    name: str
    kind: str
    default: float = 0

    @property
    def is_vector(self) -> bool:
        """Whether the field holds a vector of `element`."""
        return self.kind.startswith("[")

    @property
    def element(self) -> str:
        """The type without the vector brackets."""
        return self.kind.strip("[]")


STRUCTS: dict[str, tuple[tuple[str, str], ...]] = {
    "Binary": (("start", "Q"), ("size", "Q")),
    "RelEntry": (("base_addr_id", "I"), ("addr_offset", "I"), ("cmd_offset", "I")),
}
"""Inline structs: field names with their `struct` format characters."""

SCALARS = {"u8": "B", "i32": "i", "u32": "I", "u64": "Q", "f32": "f"}
"""Scalar types with their `struct` format characters."""

_TABLES = {
    "Model": "type:str version:str time:str chip:str net:[Net] neuron_size:u64 "
    "kernel_module:KernelModule device_num:u32 cpuop_module:CpuopModule bmodel_type:u32 "
    "lib_backend:Binary",
    "Net": "name:str net_static:[Unused] net_dynamic:[Unused] parameter:[NetParameter] "
    "cascade:Cascade addr_mode:i32",
    "NetParameter": "input_tensor:[Tensor] output_tensor:[Tensor] ctx_addr:u64 ctx_size:u64 "
    "coeff_mem:CoeffMem is_dynamic:i32 n_dynamic:i32 h_w_dynamic:i32 cmd_group:[CmdGroup] "
    "net_profile:Binary stage_ir:[StageIR] binary_ir:Binary sub_net:[SubNet] cpu_mem_size:u32 "
    "ctx_sizes:[u64] net_stat:Binary core_num:u32 io_addr:u64 io_size:u64 tensor_loc:Binary "
    "dynamic_ctx_addr:u64 dynamic_coeff_offset:u64 dynamic_combined_coeff_offset:u64",
    "Tensor": "name:str data_type:u32 gmem_stmode:i32 device_addr:u64 size:u64 shape:[Shape] "
    "mem_type:u32 scale:f32=1 cpu_addr:u32 pad_h:u32 zero_point:i32 hidden:i32 index:i32 "
    "relentry:RelEntry",
    "Shape": "dim:[u64]",
    "CoeffMem": "address:u64 check_code:[u8] binary_coeff:Binary location:[Location] "
    "encrypt_mode:i32 decrypt_size:u64",
    "Location": "name:str offset:u64 size:u64",
    "CmdGroup": "bdc_num:u32 gdma_num:u32 binary_bdc:Binary binary_gdma:Binary bdc_cmd_byte:u32 "
    "gdma_cmd_byte:u32 reloc_entries:[RelEntry]",
    "SubNet": "subnet_mode:i32 cmd_group:[CmdGroup] cpu_param:[Unused] input_tensor:[Tensor] "
    "output_tensor:[Tensor] is_dynamic:i32 ir_offset:u32 ir_len:u32 n_dynamic:i32 "
    "h_w_dynamic:i32 id:i32=-1 next_subnet_ids:[i32] merge_param:Unused switch_param:Unused "
    "core_commands:[CoreCommands] run_core:u32",
    "CoreCommands": "gdma_tiu_commands:[CmdGroup] sdma_commands:[Unused] hau_commands:[Unused] "
    "cdma_command:[Unused]",
    "KernelModule": "file_name:str binary:Binary mode:i32",
    "CpuopModule": "file_name:str binary:Binary",
    "StageIR": "ir_info_len:u32 height_high:i32 height_low:i32 width_high:i32 width_low:i32",
    "Cascade": "device_id:u32 step:u32 main_name:str",
    "Unused": "",
}


def _slot(text: str) -> Slot:
    name, _, rest = text.partition(":")
    kind, _, default = rest.partition("=")
    return Slot(name, kind, float(default or 0))


TABLES: dict[str, tuple[Slot, ...]] = {
    name: tuple(_slot(item) for item in fields.split()) for name, fields in _TABLES.items()
}
"""Every table with its slots in order."""
