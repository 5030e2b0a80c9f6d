"""Pure numpy functions behind the interpreters; nothing here knows the IR.

Everywhere an `Array` of numbers is float32 unless the function says otherwise. No function
writes into an argument.
"""
