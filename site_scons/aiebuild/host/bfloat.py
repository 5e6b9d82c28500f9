"""bf16 as NumPy is told of it; a module of its own, since loading ml_dtypes takes longer than most runs do.

Only designs with a bf16 pay for it: the text that they are translated to imports this.
"""

from __future__ import annotations

from ml_dtypes import bfloat16 as _bf16

__all__ = ["_bf16"]
