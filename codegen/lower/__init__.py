"""IR to CUDA tree, one file per kind of construct."""
