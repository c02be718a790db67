"""Sync skeletons: the objects, operations and control of a kernel's synchronisation."""
