"""Keep the accounts of a PyTorch program's gradients for a whole run.

``tensor_accounts``  the account of a tensor, and the measurements of gradients and weights
``leaf_search``      which leaves a backward pass reaches, and their names
``run_watch``        the hooks on ``backward``, ``zero_grad``, clipping and the steps of optimizers
``scaler_watch``     the hooks on ``GradScaler``
"""
