"""Define further derivatives, such as forward mode, Jacobians and custom gradients."""
