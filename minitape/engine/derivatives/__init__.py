"""Further derivatives: forward mode, Jacobians, custom gradients and Python functions."""
