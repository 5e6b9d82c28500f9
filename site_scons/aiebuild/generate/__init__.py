"""MLIR that a Python script prints, or a function of it returns: run by an interpreter that need not know aiebuild."""
