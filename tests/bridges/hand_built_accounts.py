"""The accounts of a training run that is written by hand, without a framework."""

from collections.abc import Collection

from minitape.bridges.run_watch.accounts import Account, OptimizerAccount, ParameterFacts, Route, RunAccounts

FACTS = ParameterFacts(is_gone=False, is_trainable=True, is_parameter=True, dtype_name="float32")


def at(line):
    """Return a site of the program."""
    return ("train.py", line)


MADE, BACKWARD, OTHER_BACKWARD, CLEAR, STEP, LATE = map(at, (5, 8, 9, 10, 20, 30))


class Parameter(Account):
    """The account of a parameter whose facts are set by hand."""

    facts = FACTS
    unchanged = False

    def read_current_parameter_facts(self):
        """Return the facts."""
        return self.facts

    def is_unchanged_since_first_gradient(self):
        """Return what was set."""
        return self.unchanged


class Run(RunAccounts):
    """The accounts of a run, with short methods that fill them."""

    def __init__(self, passes=4):
        """Create an empty run."""
        super().__init__({})
        self.passes = passes

    def add_parameter(self, *routes, unchanged=False, facts=FACTS, got_gradient=True, **attributes):
        """Add a parameter. A route is a tuple (fate, count, pass sites, site, optimizer number, changes)."""
        parameter = Parameter(len(self.accounts) + 1, got_gradient=got_gradient, **attributes)
        parameter.unchanged, parameter.facts = unchanged, facts
        for fate, count, pass_sites, site, *rest in routes:
            number, changes = [*rest, *(0, ())[len(rest) :]]
            route = Route(tuple(pass_sites), tuple(changes), fate, site, number)
            parameter.route_counts[self.route_numbers.setdefault(route, len(self.route_numbers))] += count
        self.accounts[parameter.key] = parameter
        return parameter

    def add_optimizer(self, *parameters, kind="Adam", site=STEP, creation_site=MADE, **attributes):
        """Add an optimizer of the given parameters."""
        optimizer = OptimizerAccount(len(self.optimizers) + 1, kind, site, creation_site, **attributes)
        optimizer.accounts += parameters
        for parameter in parameters:
            parameter.optimizer_numbers.add(optimizer.number)
        self.optimizers.append(optimizer)
        return optimizer


def summarize(found):
    """List the cause, the variant and the line of each finding, whose sentence must have all of its facts."""
    found = list(found)
    for finding in found:
        answer = finding.to_explanation("torch")
        assert isinstance(finding.keys, Collection) and "{" not in answer.message.replace("{'params'", ""), answer
    return [(finding.cause, finding.variant, finding.site[1]) for finding in found]


def route(fate, count, pass_sites=(BACKWARD,), site=STEP, number=1, changes=()):
    """Describe a route for `Run.add_parameter`."""
    return fate, count, pass_sites, site, number, changes
