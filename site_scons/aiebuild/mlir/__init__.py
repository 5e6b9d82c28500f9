"""MLIR: our own reader and writer of the generic form, the normaliser, and the services on modules."""
