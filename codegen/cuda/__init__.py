"""The CUDA C++ that codegen emits: a small tree and its printer."""
