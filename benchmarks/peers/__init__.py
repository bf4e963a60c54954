"""One module for each system that is measured; its functions are named after the workloads."""
