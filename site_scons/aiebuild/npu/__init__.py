"""The steps from checked MLIR and objects to what an NPU loads; each is a command of `python -m aiebuild.npu`."""
