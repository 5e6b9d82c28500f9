"""What editors read: VS Code's tasks and settings, and the compilation database of clangd."""
