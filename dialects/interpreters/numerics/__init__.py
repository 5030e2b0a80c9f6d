"""Pure numpy functions; nothing here knows the IR."""
