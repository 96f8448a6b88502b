"""The commands, one module each; a command returns its exit code."""
