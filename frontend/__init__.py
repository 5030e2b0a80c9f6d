"""Importers: from other frameworks' models to `top` IR and its weights."""
