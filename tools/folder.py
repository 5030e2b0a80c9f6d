"""The files that `tpu-compile` leaves in a folder, by name."""

BMODEL = "model.bmodel"
COMPILED = "compile.json"
"""How the program came about, and what the compiler says of it."""
GROUPS = "groups.json"
"""Why layer groups begin and end where they do."""
STAGES = ("top", "tpu", "final")
"""Of the IR after each of these there is a file, with this name and suffix .mlir."""
