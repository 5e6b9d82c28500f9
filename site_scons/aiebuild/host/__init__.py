"""`arch=host`: a design is run on this machine, driven by its MLIR alone; functional, not cycle-accurate."""
