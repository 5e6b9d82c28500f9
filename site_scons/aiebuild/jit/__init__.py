"""A front end for programs that compile kernels as they go: descriptions of functions, and designs made from them.

A description compiles nothing. A design that is built from some is written to `build/jit/<key>/` as a project of its
own, contract, recipe and template, and built like any other.
"""

from __future__ import annotations

from aiebuild.jit.design import Design
from aiebuild.jit.functions import ExternalArchive, ExternalFunction
from aiebuild.jit.pipeline import pipeline, plan, transform

__all__ = ["Design", "ExternalArchive", "ExternalFunction", "pipeline", "plan", "transform"]
