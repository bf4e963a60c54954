"""Other derivatives: forward mode, Jacobians, custom gradients, functions of Python."""
