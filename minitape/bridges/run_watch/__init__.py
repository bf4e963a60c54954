"""Follow a training program from its first step to its last, and report what became of its gradients.

A recording has the operations of a few steps. A run watch looks at every step and at no operation. It keeps an account
for each parameter: which backward pass added a gradient, on which line, and what became of the gradient.

    ``accounts``   contributions to gradients, their fates, and the accounts of parameters, optimizers and scalers
    ``findings``   what the accounts show to be wrong; each rule reads fates
    ``summary``    the last line of a page: how much of the run was seen
    ``report``     the page about a run
    ``anomaly_sentences``  sentences on the first number that is not finite
    ``waiting_copies``     copies of the process that can run the program again, or a part
    ``side_effects``       notices what would happen again in a second run
    ``patch_trials``       judges a patch by a run of the patched program

No framework is imported here. ``torch/ledger`` writes the accounts of a PyTorch program.
"""
