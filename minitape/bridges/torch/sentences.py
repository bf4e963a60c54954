"""The sentences of ``explain`` for PyTorch: what each cause means, and how to fix it.

{x} is the source of the question, {line} the place in brackets, {what} the function, {other} another tensor's name.
"""

from __future__ import annotations

from ...explain.operation_families import map_causes_to_ops
from ...explain.value_texts import Texts
from ..bridge_texts import SHARED_TEXTS

TEXT: Texts = SHARED_TEXTS | {
    # Each cause has two sentences: what happened, and how to fix it.
    "requires_grad": (
        "{x} has requires_grad=False{line}, so autograd keeps no gradient for it.",
        "Write {x}.requires_grad_() before it is used, or make it with requires_grad=True or as an nn.Parameter.",
    ),
    "requires_grad late": (
        "{x} was used{line} before requires_grad was set. That use is not differentiated.",
        "Set requires_grad before {x} is used for the first time, or compute the loss again after it.",
    ),
    "integer_dtype": (
        "{x} has the dtype {what}{line}, and only floats have gradients.",
        "Make {x} a float: write 1.0 instead of 1, or dtype=torch.float32, and set requires_grad=True.",
    ),
    "integer_cast": (
        "{what}{line} makes whole numbers. Only floats have gradients.",
        "Leave out the cast, and compute with the float.",
    ),
    "unknown before": (
        "The forward pass ran before the block: no gradient came to {x}, and why is not known.",
        "Move the computation of the target into the block, and ask again.",
    ),
    "unknown": (
        "{x} was used{line} in a call that is one row, such as one of torch.func or of a checkpoint. No gradient came "
        "out of it, and minitape does not see inside.",
        "Look for what blocks the gradient in the function that the call was given: run it alone to see. For "
        "torch.utils.checkpoint, write use_reentrant=False; give an autograd.Function what it uses as an argument.",
    ),
    "detach": (
        "{what}{line} blocks the gradient from the target to {x}.",
        "Leave out .detach(), or apply it only to the part that should count as a constant.",
    ),
    "data": (
        ".data{line} gives values without their history. The path from {x} to the target ends there.",
        "Leave out .data, and use the tensor itself. To change a parameter in place, write it under torch.no_grad().",
    ),
    "no_grad": (
        "{what}{line} ran under torch.no_grad(), so autograd did not record it.",
        "Move the line out of the no_grad block (or off the function's decorator): only what needs no gradient "
        "belongs there.",
    ),
    "no_grad drawn": (
        "{what}(){line} draws under torch.no_grad(). No gradient passes the draw.",
        "Draw with rsample(), which passes the gradient on. Where the distribution has none, keep the draw, and "
        "train with "
        "-(distribution.log_prob(draw) * reward).mean().",
    ),
    "no_grad source": (
        "{x} was made by {what}{line} under torch.no_grad(). It is a new tensor without requires_grad.",
        "Change the parameter in place (w.sub_(lr * w.grad), under torch.no_grad()), or write .requires_grad_() "
        "after the line.",
    ),
    "inference_mode": (
        "{what}{line} ran under torch.inference_mode(), so autograd did not record it.",
        "Move the line out of the inference_mode block.",
    ),
    "copied": (
        "torch.{what}(...){line} makes a new tensor from the values. It does not know where they came from.",
        "Leave it out: use the tensor itself, and torch.stack([...]) for a list of tensors.",
    ),
    "copied wrapped": (
        "A new leaf was made{line} of the values. nn.Parameter(t) and Variable(t) do not know where they came from.",
        "Use the tensor itself; as the weight of a module with torch.func.functional_call.",
    ),
    "left_torch": (
        "The value left PyTorch by {what}{line}. What came back is a constant that has no connection to {x}.",
        "Stay with tensors: leave out {what} and use torch functions instead of NumPy's and Python's.",
    ),
    "branch": (
        "A Python condition{line} read the value. No gradient passes the choice of a branch.",
        "Choose with tensors: torch.where(condition, a, b), torch.clamp, or smoothly with torch.sigmoid.",
    ),
    "no_derivative": (
        "{what}{line} has no derivative. It is on the path from {x} to the target.",
        "If it jumps, use a smooth function of the values instead; if not, compute the same from operations that "
        "have a gradient.",
    ),
    "non_leaf": (
        "{x} is not a leaf: {what}{line} computed it. autograd writes .grad of leaves only.",
        "If {x} is to be trained, make it the leaf: compute first, then .requires_grad_(). To read the gradient of "
        "what is computed, call {x}.retain_grad() before backward().",
    ),
    "non_leaf anew": (
        "{x} is computed anew where it is read. This one is no leaf, and was not used.",
        "Ask about what it is computed from: the leaf that is trained.",
    ),
    "in_place": (
        "{what}{line} changed a tensor in place that autograd needs as it was.",
        "Compute a new tensor instead of changing this one: write y = y + 1 for y += 1, relu(y) for relu_(y), and "
        "torch.stack of a list "
        "for y[i] = v.",
    ),
    "in_place leaf": (
        "{what}{line} changes a leaf that requires grad in place. autograd refuses that.",
        "To set values, write it under torch.no_grad(). To compute with changed values, change a copy: v = "
        "{x}.clone().",
    ),
    "in_place parameter": (
        "Parameters were changed{line} before backward(). autograd needs them as they were in the forward pass.",
        "Call all backward() before that line, or compute the loss again after it.",
    ),
    "backward_twice": (
        "backward(){line} ran a second time through the same graph. The first one has freed it.",
        "Compute the loss again before each backward(), and detach a state that goes from one step to the next; "
        "or write "
        "backward(retain_graph=True) the first time.",
    ),
    "not_scalar": (
        "The target{line} has {what} elements, and backward() wants one number.",
        "Reduce it: write loss.mean() or loss.sum() before backward().",
    ),
    "unused": (
        "{x} was not used for the target.",
        "Use it in the computation, or leave it out of what is trained.",
    ),
    "unused layer": (
        "{x} was not used: its layer {what}{line} was not called in this run.",
        "Use it in the computation, or leave it out of what is trained. Of a layer that some batches do not need, "
        "such as an expert of a mixture, ask about more steps.",
    ),
    "unused dropped": (
        "{x} goes into {what}{line}, and the target does not depend on that.",
        "Use what it gives for the target, or leave {x} out of what is trained.",
    ),
    "rebound copied": (
        "{x} was not used, and a deep copy of it{line} was.",
        "Use the object itself, or ask about the copy and give its parameters to the optimizer. Where a copy is "
        "the method, as in meta-learning, give its gradients back (p.grad = copy.grad), or compute with "
        "torch.func.functional_call.",
    ),
    "rebound replaced": (
        "{x} was not used: its module was given another in its place{line}.",
        "Take {x} from the module after that line, and make the optimizer after it.",
    ),
    "no_backward": (
        "No backward pass from this target ran in the block.",
        "Call backward() on the target inside the block of record().",
    ),
    "no_backward none": (
        "No backward pass ran in the block.",
        "Call backward() on the loss inside the block of record(), or name the target: explain(loss, {x}).",
    ),
    "grad_cleared": (
        "The gradient arrived, and .grad was set to None{line} afterwards.",
        "Call zero_grad() before backward(), and read .grad before the next zero_grad().",
    ),
    "grad_cleared zeros": (
        "The gradient arrived, and .grad was filled with zeros{line} afterwards.",
        "Call zero_grad() before backward(), and read .grad before the next zero_grad().",
    ),
    "grad_returned": (
        "torch.autograd.grad{line} returns the gradient and does not write .grad.",
        "Take the gradient from its result, or call backward().",
    ),
    "no_gradient": (
        "The backward of {what}{line} gave no gradient (None) for this input.",
        "Return a gradient for this input from backward(), in the order of forward()'s arguments.",
    ),
    "no_gradient zeros": (
        "The backward of {what}{line} gave zeros.",
        "Look at its backward(): return the adjoint times the derivative, or the adjoint itself where it should "
        "pass unchanged.",
    ),
    "hook": (
        "A hook on {what}{line} made the gradient zero.",
        "Return from the hook what should pass on, or leave it out.",
    ),
    "create_graph": (
        "{what}{line} gives a gradient as a plain value. The path from {x} to it was not recorded.",
        "To go on with a gradient, write torch.autograd.grad(..., create_graph=True).",
    ),
    "not_tensor": (
        "The target is a plain {what}: only a tensor knows how it was computed.",
        "Leave out .item(), float() or .numpy() where the target is made.",
    ),
    "zero_derivative": (
        "{what}{line} is constant in steps: its derivative is zero everywhere.",
        "Leave {what} out while training, or pass the gradient as if it were not there: x + ({what}(x) - x).detach().",
    ),
    "zero_derivative nearest": (
        "{what}{line} takes the nearest element, so that its derivative is zero.",
        'Mix the neighbours: write mode="bilinear".',
    ),
    "zero_derivative sampled": (
        "{what}{line} draws a sample, and autograd sends zeros back to what it was drawn with.",
        "Draw it with rsample() of torch.distributions, or as mean + std * torch.randn_like(std).",
    ),
    "nan_forward half": (
        "The result of {what}{line} is too large for float16, whose largest number is 65504.",
        "Compute this line with float32 inputs (x.float(), outside of autocast), or with dtype=torch.bfloat16.",
    ),
    "nan_forward alone": (
        "{what}{line} of one element divides 0 by 0: by the number of elements less one.",
        "Leave out groups of one (drop_last=True in a DataLoader), or write unbiased=False where no gradient has "
        "to pass here.",
    ),
    "zero_seed": (
        "backward() began with zeros{line}.",
        "Look at what its argument was made of. Without one, the target must be one number: a sum or mean.",
    ),
}
FUNCTIONS = {
    "saturated": "cross_entropy, binary_cross_entropy_with_logits, logsigmoid.",
    "nan_forward": "torch.clamp(x, min=1e-6) before log, sqrt and division, logsumexp or log_softmax instead of exp.",
    "nan_forward hidden": "torch.where(mask, x, 1.0), or torch.clamp(x, min=1e-6).",
    "nan_input": "torch.nan_to_num, or leave these rows out.",
    "nan_backward": "torch.sqrt(x + 1e-12), torch.clamp(x, min=1e-6). Where torch.where hides such elements, "
    "replace them before the function: {what}(torch.where(mask, x, 1.0)).",
}

STEP_OPS = set("round floor ceil sign sgn trunc fix heaviside frac_ floor_divide".split())
SAMPLING_OPS = {"bernoulli", "poisson", "normal", "binomial", "multinomial"}
RELU_OPS = set("relu relu6 threshold hardtanh hardswish hardsigmoid clamp clip clamp_min clamp_max".split())
CLAMP_OPS = set("clamp clip clamp_min clamp_max hardtanh relu6 hardsigmoid".split())
SATURATING_OPS = set(
    (
        "sigmoid tanh erf exp softsign gelu binary_cross_entropy logsigmoid triplet_margin_loss "
        "margin_ranking_loss hinge_embedding_loss cosine_embedding_loss multi_margin_loss "
        "multilabel_margin_loss hardshrink softshrink"
    ).split()
)
SELECTION_OPS = set(
    (
        "max min amax amin maximum minimum where getitem gather index_select topk sort embedding "
        "masked_select masked_fill take setitem unbind split chunk max_pool2d median select narrow quantile "
        "nanquantile nanmedian fmax fmin kthvalue tril triu"
    ).split()
)
PRODUCT_OPS = set(
    (
        "mul matmul mm bmm linear einsum dot mv dropout prod div conv2d conv1d addmm imul truediv "
        "scaled_dot_product_attention"
    ).split()
)
CLASS_LOSS_OPS = {"cross_entropy"}
CANCELLING_OPS = set("softmax log_softmax layer_norm batch_norm group_norm instance_norm normalize std var sub".split())
ZERO_MECHANISMS = map_causes_to_ops(
    STEP_OPS | SAMPLING_OPS,
    RELU_OPS - CLAMP_OPS,
    CLAMP_OPS | SATURATING_OPS,
    SELECTION_OPS,
    PRODUCT_OPS,
    CANCELLING_OPS,
)
