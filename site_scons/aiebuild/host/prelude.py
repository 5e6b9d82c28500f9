"""The names that a translated text uses: all start with `_`, so that no value of a design can hide one."""

from __future__ import annotations

import numpy as np

from aiebuild.host import support, views

_ceildivsi = support.ceildivsi
_ceildivui = support.ceildivui
_divsi = support.divsi
_divui = support.divui
_floordivsi = support.floordivsi
_remsi = support.remsi
_remui = support.remui
_shli = support.shli
_shrsi = support.shrsi
_shrui = support.shrui
_fptosi = support.fptosi
_fptoui = support.fptoui
_wide = support.wide
_fma = support.fma
_bitcast = support.bitcast
_round_half_away = support.round_half_away
_outside = support.outside
_step_fault = support.step_fault
_f16 = np.float16
_f32 = np.float32
_f64 = np.float64
_allocate = views.allocate
_subview = views.subview
_cast = views.cast
_collapse = views.collapse
_expand = views.expand
_reinterpret = views.reinterpret
_copy = views.copy

__all__ = [name for name in dir() if name.startswith("_") and not name.startswith("__")]
