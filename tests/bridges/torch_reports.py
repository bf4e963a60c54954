"""More programs, based on reports in issue trackers. :mod:`torch_cases` describes the marks."""

CASES = """
#@ critic_advantage_uses_item left_torch
actor, critic = nn.Linear(3, 2), nn.Linear(3, 1)
w = critic.weight
s = torch.randn(1, 3)
value = critic(s).squeeze()
adv = 1.0 - value.item() #! #- adv = 1.0 - value
logp = torch.log_softmax(actor(s), -1)[0, 1]
loss = -logp * adv
loss.backward()
#@ set_grad_enabled_false no_grad
net = nn.Linear(3, 1)
w = net.weight
with torch.set_grad_enabled(False): #- with torch.set_grad_enabled(True):
    out = net(torch.randn(2, 3)) #!
loss = out.sum()
if loss.requires_grad: loss.backward()
#@ hard_one_hot no_derivative
w = torch.randn(2, 4, requires_grad=True)
p = torch.softmax(w, -1)
hard = nn.functional.one_hot(p.argmax(-1), 4).float() #! #- hard = p
loss = (hard * torch.arange(4.0)).sum()
if loss.requires_grad: loss.backward()
#@ straight_through_cut_as_a_whole detach
w = torch.randn(4, requires_grad=True)
codes = (w + torch.round(w) - w).detach() #! #- codes = w + (torch.round(w) - w).detach()
loss = (codes - 0.3).pow(2).sum()
if loss.requires_grad: loss.backward()
#@ lstm_hidden_kept_between_steps backward_twice
rnn = nn.RNN(2, 3, batch_first=True)
w = rnn.weight_ih_l0
h = torch.zeros(1, 1, 3)
for k in range(2):
    out, h = rnn(torch.randn(1, 4, 2), h)
    #+ h = h.detach()
    loss = out.pow(2).mean()
    loss.backward() #!
#@ relu_inplace_after_tanh in_place
net = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.ReLU(inplace=True)) #- net = nn.Sequential(nn.Linear(3, 3), \
nn.Tanh(), nn.ReLU())
w = net[0].weight
loss = net(torch.randn(2, 3)).sum() #!
loss.backward()
#@ adam_step_between in_place
a, b = nn.Linear(2, 2), nn.Linear(2, 1)
w = a.weight
opt = torch.optim.SGD([*a.parameters(), *b.parameters()], 0.1)
x = torch.randn(3, 2)
h = a(x)
first = b(h).mean()
first.backward(retain_graph=True)
loss = b(h).pow(2).mean()
opt.step() #! #-
loss.backward()
#+ opt.step()
#@ gradient_hook_of_zeros hook
w = torch.randn(3, requires_grad=True)
h = w * 2
h.register_hook(lambda g: g * 0) #! #-
loss = (h ** 2).sum()
loss.backward()
#@ custom_function_zeros no_gradient
class Round(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return torch.round(x)
    @staticmethod
    def backward(ctx, g):
        return torch.zeros_like(g) #! #- return g
w = torch.randn(3, requires_grad=True)
loss = (Round.apply(w * 3) ** 2).sum()
loss.backward()
#@ penalty_without_create_graph create_graph
net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
w = net[0].weight
x = torch.randn(4, 2, requires_grad=True)
g, = torch.autograd.grad(net(x).sum(), x) #! #- g, = torch.autograd.grad(net(x).sum(), x, create_graph=True)
loss = ((g.norm(dim=1) - 1) ** 2).mean()
if loss.requires_grad: loss.backward()
#@ zeroed_in_place_after_backward grad_cleared
w = torch.ones(3, requires_grad=True)
opt = torch.optim.SGD([w], 0.1)
loss = (w ** 2).sum()
loss.backward()
opt.zero_grad(set_to_none=False) #! #-
#@ numpy_array_call left_torch
import numpy as np
w = torch.rand(4, requires_grad=True)
h = w * 2
a = np.array(h.tolist()) #! #- a = h
b = torch.tensor(a.mean(), dtype=torch.float32, requires_grad=True) #- b = a.mean()
loss = b * 3
loss.backward()
#@ parameter_in_a_set_to_tensor copied
w = torch.randn(3, requires_grad=True)
h = torch.as_tensor([v for v in w * 2]) #! #- h = w * 2
loss = h.sum()
if loss.requires_grad: loss.backward()
#@ python_max_branch branch
a = torch.tensor(1.0, requires_grad=True)
w = torch.tensor(2.0, requires_grad=True)
if (w - 1.0).abs() < 5.0: #!
    loss = a * 2 #- loss = a * 2 * torch.sigmoid(w)
else:
    loss = a
loss.backward()
#@ checkpoint_of_inputs_without_grad no_grad
from torch.utils.checkpoint import checkpoint
block, head = nn.Sequential(nn.Linear(3, 3), nn.Tanh()), nn.Linear(3, 1)
w = block[0].weight
h = checkpoint(block, torch.randn(5, 3), use_reentrant=True) #! #- h = checkpoint(block, torch.randn(5, 3), \
use_reentrant=False)
loss = head(h).mean()
loss.backward()
#@ module_hook_of_zeros hook
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
w = net[0].weight
net[2].register_full_backward_hook(lambda module, given, came: tuple(g * 0 for g in given)) #! #-
loss = net(torch.randn(5, 3)).mean()
loss.backward()
#@ hook_on_the_parameter hook
w = torch.tensor([1.0, 2.0], requires_grad=True)
def nothing(g):
    return g * 0 #! #- return g
w.register_hook(nothing)
loss = (w ** 2).sum()
loss.backward()
#@ gradient_that_nobody_takes grad_returned
w = torch.tensor([1.0, -2.0], requires_grad=True)
loss = (w ** 3).sum()
torch.autograd.grad(loss, w) #! #- loss.backward()
#@ gradient_that_no_optimizer_gets grad_returned
w = torch.tensor([1.0, -2.0], requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
loss = (w ** 3).sum()
slope = torch.autograd.grad(loss, w) #! #- loss.backward()
norm = slope[0].norm() #-
opt.step()
#@ draw_of_a_latent no_grad
w = torch.zeros(3, requires_grad=True)
z = torch.distributions.Normal(w, 1.0).sample() #! #- z = torch.distributions.Normal(w, 1.0).rsample()
loss = (z ** 2).sum()
loss.backward()
#@ list_of_losses_made_a_tensor copied
w = torch.ones(2, requires_grad=True)
parts = [w.sum(), (w * 2).sum()]
parts = torch.tensor(parts) #! #- parts = torch.stack(parts)
loss = parts.sum()
loss.backward()
#@ copy_that_a_method_keeps rebound
import copy
class Trainer:
    def __init__(self):
        self.net = nn.Linear(3, 1)
        self.best = copy.deepcopy(self.net)
    def restore(self):
        self.net = copy.deepcopy(self.best) #! #- pass
trainer = Trainer()
w = trainer.net.weight
trainer.restore()
loss = trainer.net(torch.ones(1, 3)).sum()
loss.backward()
#@ requires_grad_behind_the_model requires_grad
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
class Around(nn.Module):
    def forward(self, x):
        return net(x) #!
w = torch.ones(3) #- w = torch.ones(3, requires_grad=True)
loss = Around()(w)
w.requires_grad = True
loss.backward()
#@ element_of_a_leaf_is_set in_place
w = torch.zeros(4, requires_grad=True)
v = w #- v = w.clone()
v[0] = 5.0 #!
loss = (v ** 2).sum() + v.sum()
loss.backward()
#@ recurrence_in_a_buffer in_place
w = torch.ones(1, requires_grad=True)
f = torch.zeros(5) #- f = [torch.ones(1)]
f[0] = 1.0 #-
for i in range(1, 5):
    f[i] = f[i - 1] * w #-
    f[i] = 1 / (1.0 + torch.exp(-f[i])) #! #- f.append(1 / (1.0 + torch.exp(-f[i - 1] * w)))
loss = f.sum() #- loss = torch.stack(f).sum()
loss.backward()
#@ set_grad_enabled_by_a_flag no_grad
net = nn.Linear(3, 1).eval() #- net = nn.Linear(3, 1)
w = net.weight
with torch.set_grad_enabled(net.training):
    out = net(torch.randn(2, 3)) #!
loss = out.sum()
if loss.requires_grad: loss.backward()
#@ the_decorator_is_on_the_caller_of_a_module no_grad
net = nn.Linear(3, 1)
w = net.weight
class Around(nn.Module):
    def forward(self, x):
        return net(x)
@torch.no_grad() #-
def embed(x):
    return Around()(x) * 2 #!
loss = embed(torch.ones(2, 3)).sum() + torch.ones(1, requires_grad=True).sum()
loss.backward()
#@ custom_function_zeros_above_its_last_return no_gradient
class Limit(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1.0
    @staticmethod
    def backward(ctx, g):
        if g.max() > 1:
            return torch.zeros_like(g) #! #- return torch.ones_like(g)
        return g
w = torch.ones(3, requires_grad=True)
loss = (Limit.apply(w * 3) * 2).sum()
loss.backward()
#@ numbers_that_were_rounded_before integer_cast
net, table = nn.Linear(3, 1), nn.Embedding(6, 4)
w = net.weight
place = net(torch.randn(5, 3)).sigmoid() * 5
rows = place.round().long()  #!  #- rows = torch.softmax(-((place - torch.arange(6.0)) ** 2), 1)
picked = [table.weight[row] for (row,) in rows.tolist()]  #- picked = list(rows @ table.weight)
loss = torch.stack(picked).pow(2).sum()
loss.backward()
#@ a_helper_acts_without_gradients no_grad
actor, critic = nn.Linear(2, 1), nn.Linear(3, 1)
w = actor.weight
def act(state):
    with torch.no_grad():  #- if True:
        action = actor(state)  #!
    action = action.numpy() + 0.1  #- action = action + 0.1
    return torch.as_tensor(action)  #- return action
state = torch.randn(5, 2)
loss = -critic(torch.cat([state, act(state)], 1)).mean()
loss.backward()
#@ stacked_copies_of_an_ensemble detach
nets = [nn.Linear(3, 1) for _ in range(2)]
w = nets[0].weight
stacked, _ = torch.func.stack_module_state(nets)  #!  #- stacked = {"weight": torch.stack([net.weight for net in nets])}
loss = torch.einsum("eoi,ni->eno", stacked["weight"], torch.randn(4, 3)).pow(2).sum()
loss.backward()
"""
