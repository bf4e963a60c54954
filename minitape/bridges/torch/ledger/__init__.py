"""Track what happens to a PyTorch program's gradients during a whole run.

``tensor_accounts``  the accounts of tensors, and measurements of gradients and weights
``leaf_search``      finds the leaves that a backward pass reaches, and their names
``run_watch``        the hooks on ``backward``, ``zero_grad``, clipping and optimizer steps
``scaler_watch``     the hooks on ``GradScaler``
``schedule_watch``   the hooks on learning-rate schedules, and on normalization and dropout layers
``misuse_watch``     finds settings that have no effect, and frozen parameters that change
"""
