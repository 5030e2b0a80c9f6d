"""The one exception every room raises for bad input."""


class TpuError(Exception):
    """A problem in what the user gave us, in words for that user.

    The message names the op or tensor, where it is, and what can be done; tools print it
    and exit with status 1, without a traceback.
    """
