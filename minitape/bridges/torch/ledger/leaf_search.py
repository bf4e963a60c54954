"""Find the leaves that backward passes reach, and the program's names for these leaves."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from torch import Tensor
from torch.nn import Module, Parameter

from ....engine.types import OptionalFrame
from ....recording.sites import Site
from ...kept_values import IdentityMap
from ..kept_tensors import Tensors

# For each line, the search visits the graphs of the first passes, and then the graphs of passes 4, 8, 16 and so on.
FIRST_SEARCHES = 3


def iter_reached_leaves(roots: Iterable[Tensor]) -> Iterator[Tensor]:
    """Yield the leaves that a backward pass reaches.

    Args:
        roots: The tensors at which the pass begins.

    >>> import torch
    >>> x = torch.ones(2, requires_grad=True)
    >>> [leaf is x for leaf in iter_reached_leaves([(2 * x).sum()])]
    [True]
    """
    waiting = [root.grad_fn for root in roots if root.grad_fn is not None]
    seen = set(waiting)
    while waiting:
        node = waiting.pop()
        leaf = getattr(node, "variable", None)
        if isinstance(leaf, Tensor) and type(node).__name__ == "AccumulateGrad":
            yield leaf
        for next_node, _ in node.next_functions:
            if next_node is not None and next_node not in seen:
                seen.add(next_node)
                waiting.append(next_node)


class LeafSearch:
    """Searches the graphs of backward passes for leaves, and the program's frames for the leaves' names.

    Attributes:
        names: The program's names for parameters, by key.
        pass_counts: The number of passes per line, which decides when to search. Clear these counts when the program
            creates new parameters.
    """

    def __init__(self) -> None:
        """Start without any leaves."""
        self.names: dict[int, str] = {}
        self.pass_counts = Counter[Site]()
        self._tensors_seen_once = IdentityMap()

    def allow_one_more_search_of_each_line(self) -> None:
        """Allow each line one more search, because a parameter may have been unfrozen since the last search."""
        for site in self.pass_counts:
            self.pass_counts[site] = 2 * FIRST_SEARCHES + 1  # The next pass raises the count to a power of two.

    def list_leaves_reached_by_pass_if_due(
        self, roots: Tensors, site: Site, frame: OptionalFrame, has_account: Callable[[int], bool]
    ) -> Tensors:
        """Return the leaves that a backward pass reaches, or [] if the line's passes have been searched often enough.

        A leaf that is not a parameter, such as an input whose gradient is needed, is returned only from its second
        occurrence on.

        Args:
            roots: The tensors at which the pass begins.
            site: The line of the pass.
            frame: The program's frame that starts the pass.
            has_account: A function that returns whether the leaf with a given key has an account.
        """
        count = self.pass_counts[site] = self.pass_counts[site] + 1
        if count > FIRST_SEARCHES and count & (count - 1):
            return []
        if count <= FIRST_SEARCHES:
            self._read_module_level_names(frame)
        return [
            leaf
            for leaf in iter_reached_leaves(roots)
            if has_account(id(leaf)) or self._is_parameter_or_leaf_seen_before(leaf)
        ]

    def _is_parameter_or_leaf_seen_before(self, leaf: Tensor) -> bool:
        is_trained = isinstance(leaf, Parameter) or self._tensors_seen_once.get(leaf, False)
        self._tensors_seen_once[leaf] = True
        return is_trained

    def _read_module_level_names(self, frame: OptionalFrame) -> None:
        """Read the names of the modules and parameters in the program's Python modules.

        Names inside functions are not read, because reading them would keep a copy of the function's variables alive.
        """
        while frame is not None:
            if frame.f_code.co_name == "<module>":
                for name, value in list(frame.f_locals.items()):
                    self._add_names_if_module_or_parameter(name, value)
            frame = frame.f_back

    def _add_names_if_module_or_parameter(self, name: str, value: object) -> None:
        """Add the name of a parameter, or the names of a module's parameters.

        Values of other types, and names that begin with an underscore, are skipped. A parameter keeps its first name.
        """
        if name.startswith("_"):
            return
        if isinstance(value, Module):
            for path, parameter in value.named_parameters():
                self.names.setdefault(id(parameter), f"{name}.{path}")
        elif isinstance(value, Parameter):
            self.names.setdefault(id(value), name)
