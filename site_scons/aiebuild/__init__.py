"""aiebuild: one build graph from NPU kernels to artifacts that can be deployed, or run on this machine."""

__version__ = "0.1.0"
