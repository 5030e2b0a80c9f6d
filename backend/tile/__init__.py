"""The tile program: what runs on the two engines, slice by slice, and where everything lies.

It stands between the tpu IR and commands. `build` decides, `verify` checks, `emit` does; `text`
writes it as ops of the dialect `tile` and reads it back.
"""
