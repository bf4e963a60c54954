"""Explain why a gradient is None, zero, NaN or wrong, in the same way for every framework.

``question``           a question about a recording's rows and the edges between them, and the finding that answers it
``adapter``            everything about a framework that the checks use, except the recorded rows
``check_order``        the order of the checks, which all frameworks share, and what each framework adds to them
``checks``             the checks, one for each cause, that minitape's tape and the three frameworks share
``zero_nan``           the operation that made a gradient zero or not finite
``suspects``           gradients that exist but are wrong
``program_text``       the text of the user's program: statements, names and the flow of values
``object_names``       the expression through which a program accesses an object
``finding_sentences``  the sentences that explain a finding
``tape_adapter``       the rows and the adapter for minitape's own tape
``tape_checks``        the checks that are specific to minitape's own tape
``tape_sentences``     the sentence fields that are specific to minitape's own tape
"""
