"""Images of files as the input of a network."""

import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.tools.preprocess import CHANNELS, Preprocess

if TYPE_CHECKING:
    from PIL.Image import Image

SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".bmp", ".webp", ".ppm", ".pgm", ".tif", ".tiff"})
"""Of files that are read as images; in capitals, too."""

_MODES = {"rgb": "RGB", "bgr": "RGB", "gray": "L", "rgba": "RGBA"}
_WIDE = ("I", "F")
"""How Pillow's modes of more than 8 bits a channel begin."""


def is_image(file: Path) -> bool:
    """Whether a file is one by its name."""
    return file.suffix.lower() in SUFFIXES


@dataclass(frozen=True)
class ImageReader:
    """Files of images as the one input, of this name and shape, of a network."""

    name: str
    shape: tuple[int, ...]
    preprocess: Preprocess

    def __post_init__(self) -> None:
        """Raise TpuError where the input is no image of these channels."""
        wanted, said = CHANNELS[self.preprocess.pixel_format], "x".join(map(str, self.shape))
        if len(self.shape) != 4:
            raise TpuError(
                f"input '{self.name}' of {said} takes no images; give .npz or .npy files"
            )
        if self._channels != wanted:
            raise TpuError(
                f"input '{self.name}' of {said} has {self._channels} channels as "
                f"{self.preprocess.channel_format}, and {self.preprocess.pixel_format} has "
                f"{wanted}; choose pixel_format and channel_format"
            )
        for field in ("mean", "scale"):
            count = len(getattr(self.preprocess, field))
            if count not in (1, wanted):
                raise TpuError(
                    f"{field} has {count} numbers, and images of {self.preprocess.pixel_format} "
                    f"have {wanted} channels"
                )
        sizes = self.preprocess.resize_dims
        if sizes is not None and (sizes[0] < self._size[0] or sizes[1] < self._size[1]):
            raise TpuError(
                f"resize_dims {sizes[0]}x{sizes[1]} is less than what input '{self.name}' takes, "
                f"{self._size[0]}x{self._size[1]}"
            )

    def read(self, file: Path) -> npt.NDArray[Any]:
        """The input of one file, f32; a batch holds the image several times.

        Raises TpuError for a file that is no image, and for more than 8 bits a channel.
        """
        if find_spec("PIL") is None:
            raise TpuError(f"{file}: images need Pillow: pip install 'xdsl-tpu[images]'")
        pixels = np.asarray(self._middle(self._resized(self._opened(file))), np.float32)
        pixels = pixels.reshape(*self._size, self._channels)
        if self.preprocess.pixel_format == "bgr":
            pixels = pixels[..., ::-1]
        means, scales = (np.array(one) for one in (self.preprocess.mean, self.preprocess.scale))
        values = ((pixels - means) * scales).astype(np.float32)
        if self.preprocess.channel_format == "nchw":
            values = values.transpose(2, 0, 1)
        return np.ascontiguousarray(np.broadcast_to(values, self.shape))

    @property
    def _channels(self) -> int:
        return self.shape[1 if self.preprocess.channel_format == "nchw" else 3]

    @property
    def _size(self) -> tuple[int, int]:
        """Rows and columns."""
        first = 2 if self.preprocess.channel_format == "nchw" else 1
        return self.shape[first], self.shape[first + 1]

    def _opened(self, file: Path) -> "Image":
        """Upright, as cameras note it, with as many channels as the network takes."""
        from PIL import Image, ImageOps, UnidentifiedImageError

        broken = (OSError, ValueError, SyntaxError, UnidentifiedImageError)
        try:
            with warnings.catch_warnings(), Image.open(file) as image:
                warnings.simplefilter("error", Image.DecompressionBombWarning)
                if image.mode.startswith(_WIDE):
                    raise TpuError(
                        f"{file}: more than 8 bits a channel; convert it, or give an .npy"
                    )
                upright = ImageOps.exif_transpose(image)
                return upright.convert(_MODES[self.preprocess.pixel_format])
        except (*broken, Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
            raise TpuError(f"{file}: no readable image ({error})") from error

    def _resized(self, image: "Image") -> "Image":
        """Of `resize_dims`, or of the network's size where these are not given."""
        from PIL import Image, ImageOps

        chosen = self.preprocess
        rows, columns = chosen.resize_dims or self._size
        filters = {
            "bilinear": Image.Resampling.BILINEAR,
            "bicubic": Image.Resampling.BICUBIC,
            "nearest": Image.Resampling.NEAREST,
        }
        method = filters[chosen.interpolation]
        if not chosen.keep_aspect_ratio:
            return image.resize((columns, rows), method)
        if chosen.keep_ratio_mode == "short_side_scale":
            return ImageOps.fit(image, (columns, rows), method)
        ratio = min(rows / image.height, columns / image.width)
        inner = max(1, round(image.width * ratio)), max(1, round(image.height * ratio))
        bands = len(image.getbands())
        frame = Image.new(image.mode, (columns, rows), (chosen.pad_value,) * bands)
        centred = ((columns - inner[0]) // 2, (rows - inner[1]) // 2)
        frame.paste(image.resize(inner, method), centred if chosen.pad_type == "center" else (0, 0))
        return frame

    def _middle(self, image: "Image") -> "Image":
        rows, columns = self._size
        left, top = (image.width - columns) // 2, (image.height - rows) // 2
        return image.crop((left, top, left + columns, top + rows))
