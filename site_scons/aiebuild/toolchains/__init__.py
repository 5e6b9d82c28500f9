"""The tools that compile kernels and build artifacts: one module a tool, each command a pure function."""
