"""Follow a training program from its first to its last step, and report what happened to its gradients.

A recording contains the operations of a few steps. A run watch sees every step but no operations. For each parameter,
the watch records which backward passes added gradients, on which lines they ran, and how the gradients were changed.

    ``accounts``           gradient contributions, their fates, and the accounts of parameters, optimizers and scalers
    ``schedules``          the accounts of learning-rate schedules and layer modes, and the mistakes that they show
    ``findings``           the checks that find problems in the accounts
    ``summary``            the last line of the page, which states how much of the run was observed
    ``report``             the page about a whole run
    ``anomaly_sentences``  sentences about the first non-finite value
    ``waiting_copies``     copies of the process that can repeat all or part of the program
    ``side_effects``       notices side effects that a second run would repeat
    ``patch_trials``       judges a patch by running the patched program

No framework is imported here. ``torch/ledger`` keeps the accounts of PyTorch programs.
"""
