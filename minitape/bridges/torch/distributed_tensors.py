"""Find the local tensors behind a PyTorch program's distributed parameters.

FSDP2 (``torch.distributed.fsdp.fully_shard``) replaces each parameter with a ``DTensor``, and each process stores one
of its shards. The modules compute with a temporary parameter, which holds all of the elements. Autograd knows only the
temporary parameter, while optimizers and ``module.parameters()`` know only the ``DTensor``.
"""

from collections.abc import Iterable

from torch import Tensor
from torch.nn import Module


def get_local_part(tensor: Tensor) -> Tensor:
    """Return this process's shard of a distributed tensor, or the tensor itself if it is not distributed.

    Args:
        tensor: The tensor.
    """
    part: Tensor = tensor.to_local() if hasattr(tensor, "to_local") else tensor
    return part


def map_sharded_ids_to_gathered_parameters(root_modules: Iterable[Module]) -> dict[int, Tensor]:
    """Find the parameters that FSDP2 modules compute with.

    Args:
        root_modules: The modules to search, including their submodules.

    Returns:
        The parameters, keyed by the ``id`` of the ``DTensor`` that each of them was gathered from.
    """
    unsharded_parameters = {}
    for root_module in root_modules:
        for module in root_module.modules():
            find_state = getattr(module, "_get_fsdp_state", None)
            # PyTorch has no public interface to the parts of FSDP2's state.
            group = None if find_state is None else getattr(find_state(), "_fsdp_param_group", None)
            for pair in () if group is None else group.fsdp_params:
                unsharded = getattr(pair, "_unsharded_param", None)
                if unsharded is not None:
                    unsharded_parameters[id(pair.sharded_param)] = unsharded
    return unsharded_parameters
