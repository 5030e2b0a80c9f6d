"""Language models: from a folder of Hugging Face files to `top` modules, one for each net."""

from xdsl_tpu.frontend.llm.formats import WeightFormat
from xdsl_tpu.frontend.llm.model import LanguageModel, open_model

__all__ = ["LanguageModel", "WeightFormat", "open_model"]
