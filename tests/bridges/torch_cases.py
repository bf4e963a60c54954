"""Programs whose ``.grad`` is None, zero or NaN, or whose backward() fails, based on questions in forums and issues.

Each program begins with ``#@ name cause``, without a blank line before it. The line to blame, if any, ends in ``#!``.
In the fixed program, a line that ends in ``#- text`` is replaced with the text, or removed if the text is empty. ``#+
text`` is a line that only the fixed program has. ``loss`` is the target and ``w`` is the source.
"""

CASES = """
#@ leaf_without_requires_grad requires_grad
w = torch.randn(3) #! #- w = torch.randn(3, requires_grad=True)
x = torch.randn(3)
loss = (w * x).sum()
loss.backward()
#@ parameter_is_replaced rebound
net = nn.Linear(3, 1)
w = net.weight
net.weight = nn.Parameter(torch.zeros(1, 3)) #! #-
loss = net(torch.randn(4, 3)).sum()
loss.backward()
#@ features_without_gradients_in_guided_sampling no_grad
net, head = nn.Linear(3, 3), nn.Linear(3, 1)
w = net.weight
@torch.no_grad()
def sample(x):
    with torch.enable_grad():
        with torch.no_grad():  #- if True:
            features = net(x)  #!
        return head(features).sum()
loss = sample(torch.randn(2, 3))
loss.backward()
#@ frozen_layer requires_grad
net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
net[0].weight.requires_grad = False  #! #-
w = net[0].weight
loss = net(torch.randn(5, 3)).mean()
loss.backward()
#@ requires_grad_too_late requires_grad
w = torch.ones(3)  #- w = torch.ones(3, requires_grad=True)
y = torch.exp(w) #!
w.requires_grad_()
loss = y.sum()
loss.backward()
#@ detached_hidden_state detach
w = torch.randn(4, 4, requires_grad=True)
h = torch.tanh(torch.randn(2, 4) @ w)
h = h.detach() #! #-
loss = (h * 2).sum()
loss.backward()
#@ values_of_the_state_dict detach
net = nn.Linear(3, 1)
w = net.weight
values = net.state_dict()  #! #- values = dict(net.named_parameters())
loss = (values["weight"] * 2).sum() + net.bias.sum()
loss.backward()
#@ detached_in_a_vmapped_function unknown
w = torch.randn(3, requires_grad=True)
def score(x):
    return (w.detach() * x).sum() #! #- return (w * x).sum()
loss = torch.vmap(score)(torch.randn(5, 3)).mean()
loss.backward()
#@ detached_in_a_function_of_which_torch_func_takes_the_gradient unknown
net = nn.Linear(3, 3)
w = net.weight
hidden = net(torch.ones(3)) * 2.0
def energy(x):
    return (torch.sin(hidden.detach() * x)).sum() #! #- return (torch.sin(hidden * x)).sum()
force = torch.func.grad(energy)(torch.ones(3))
loss = (force ** 2).sum()
loss.backward()
#@ rewards_as_numbers_beside_a_sampled_action left_torch
policy = nn.Linear(2, 3)
w = policy.weight
scores = torch.log_softmax(policy(torch.ones(5, 2)), dim=1)
losses = []
for row in scores:
    action = int(torch.argmax(row))
    losses.append(row[action].item()) #! #- losses.append(row[action])
loss = -torch.tensor(losses, requires_grad=True).mean() #- loss = -torch.stack(losses).mean()
loss.backward()
#@ both_sides_of_a_term_detached detach
book, enc = nn.Embedding(5, 3), nn.Linear(4, 3)
w = book.weight
z, q = enc(torch.randn(6, 4)), book(torch.arange(5).repeat(2)[:6])
commit = nn.functional.mse_loss(z, q.detach())
loss = commit + (q.detach() - z.detach()).pow(2).mean() #! #- loss = commit + (q - z.detach()).pow(2).mean()
loss.backward()
#@ drawn_by_the_original_of_a_copy rebound
import copy
net = nn.Linear(3, 2)
w = net.weight
agent = copy.deepcopy(net) #! #- agent = net
x = torch.randn(5, 3)
action = net(x).argmax(-1)
loss = -agent(x).log_softmax(-1).gather(1, action[:, None]).mean()
loss.backward()
#@ data_of_the_output data
net = nn.Linear(3, 1)
w = net.weight
out = net(torch.randn(4, 3))
loss = (out.data ** 2).mean() #! #- loss = (out ** 2).mean()
loss.backward()
#@ forward_under_no_grad no_grad
net = nn.Linear(3, 1)
w = net.weight
with torch.no_grad(): #- if True:
    out = net(torch.randn(4, 3)) #!
loss = out.mean()
loss.backward()
#@ decorated_with_no_grad no_grad
w = torch.randn(3, requires_grad=True)
@torch.no_grad() #-
def features(x):
    return torch.tanh(x * w) #!
loss = features(torch.randn(3)).sum()
loss.backward()
#@ inference_mode inference_mode
net = nn.Linear(3, 1)
w = net.weight
with torch.inference_mode(): #- if True:
    out = net(torch.randn(4, 3)) #!
loss = out.sum()
loss.backward()
#@ item_in_the_loss left_torch
w = torch.randn(3, requires_grad=True)
x = torch.randn(3, requires_grad=True)
total = (w * w).sum().item() #! #- total = (w * w).sum()
loss = x.sum() * total
loss.backward()
#@ numpy_in_the_middle left_torch
import numpy as np
w = torch.rand(3, requires_grad=True)
y = torch.exp(w)
z = np.log1p(y.detach().numpy()) #! #- z = torch.log1p(y)
loss = torch.from_numpy(z).sum().requires_grad_() #- loss = z.sum()
loss.backward()
#@ list_of_items left_torch
ws = [torch.tensor(float(k), requires_grad=True) for k in range(3)]
w = ws[1]
parts = [(v * 2).item() for v in ws] #! #- parts = [v * 2 for v in ws]
loss = torch.tensor(parts, requires_grad=True).sum() #- loss = torch.stack(parts).sum()
loss.backward()
#@ torch_tensor_of_a_tensor copied
w = torch.tensor(2.0, requires_grad=True)
y = w * 3
loss = torch.tensor(y, requires_grad=True) * 2 #! #- loss = y * 2
loss.backward()
#@ torch_tensor_of_a_list copied
a = torch.tensor(1.0, requires_grad=True)
w = torch.tensor(2.0, requires_grad=True)
v = torch.tensor([a * 2, w * 3]) #! #- v = torch.stack([a * 2, w * 3])
loss = v.sum()
loss.backward()
#@ index_of_an_embedding integer_dtype
net = nn.Embedding(5, 2)
w = torch.tensor([1, 3]) #!
loss = net(w).sum()
loss.backward()
#+ w = net.weight
#@ meter_that_keeps_a_number left_torch
class Meter:
    def update(self, value):
        self.latest = value.item() #! #- self.latest = value
w, meter = torch.tensor(1.0, requires_grad=True), Meter()
meter.update(w * 3.0)
loss = torch.tensor(meter.latest, requires_grad=True) ** 2 #- loss = meter.latest ** 2
loss.backward()
#@ integer_parameter integer_dtype
w = torch.tensor([1, 2, 3]) #! #- w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
x = torch.randn(3, requires_grad=True)
loss = (w * x).sum()
loss.backward()
#@ cast_to_long integer_cast
w = torch.tensor([1.5, 2.5], requires_grad=True)
k = (w * 2).long() #! #- k = w * 2
loss = (k.float() ** 2).sum()
loss.backward()
#@ grad_of_a_non_leaf non_leaf
x = torch.randn(3, requires_grad=True)
w = x * 0.1 #!
#+ w.retain_grad()
loss = (w ** 2).sum()
loss.backward()
#@ double_parameter non_leaf
w = torch.randn(3, requires_grad=True).double() #! #- w = torch.randn(3).double().requires_grad_()
loss = (w ** 2).sum()
loss.backward()
#@ in_place_on_a_saved_result in_place
w = torch.randn(3, requires_grad=True)
y = torch.exp(w)
y += 1 #! #- y = y + 1
loss = (y * 2).sum()
loss.backward()
#@ in_place_twice in_place
w = torch.randn(3, requires_grad=True)
gate = torch.sigmoid(w)
gate *= 0.9 #! #- gate = gate * 0.9
gate += 0.05
loss = (gate * w).sum()
loss.backward()
#@ in_place_relu_after_sigmoid in_place
w = torch.randn(3, 3, requires_grad=True)
y = torch.sigmoid(torch.randn(2, 3) @ w)
y[0] = 0.0 #! #- y = torch.cat([torch.zeros(1, 3), y[1:]])
loss = y.sum()
loss.backward()
#@ backward_twice backward_twice
w = torch.randn(3, requires_grad=True)
h = w.exp()
first = h.sum()
first.backward() #- first.backward(retain_graph=True)
loss = (h * h).sum()
loss.backward() #!
#@ loss_is_not_a_number not_scalar
w = torch.randn(3, requires_grad=True)
loss = (w * 2) ** 2  #- loss = ((w * 2) ** 2).mean()
loss.backward() #!
#@ unused_head unused
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head, self.spare = nn.Linear(3, 4), nn.Linear(4, 1), nn.Linear(2, 1)  #!
    def forward(self, x):
        return self.head(torch.tanh(self.body(x)))  #- return self.head(torch.tanh(self.body(x))) + self.spare(x[:, :2])
net = Net()
w = net.spare.weight
loss = net(torch.randn(2, 3)).sum()
loss.backward()
#@ deep_copied_model rebound
import copy
net = nn.Linear(3, 2)
trained = copy.deepcopy(net) #! #- trained = net
w = net.weight
loss = trained(torch.randn(4, 3)).pow(2).mean()
loss.backward()
#@ update_that_makes_a_new_tensor no_grad
w = torch.ones(3, requires_grad=True)
(w * w).sum().backward()
with torch.no_grad():
    w = w - 0.1 * w.grad #! #- w.sub_(0.1 * w.grad)
loss = (w * 3).sum()
loss.backward()
#@ backward_was_forgotten no_backward
w = torch.ones(3, requires_grad=True)
loss = (w * w).sum()
#+ loss.backward()
#@ adapted_weights_are_loaded no_grad
net, learner, x = nn.Linear(2, 1), nn.Linear(2, 1), torch.ones(3, 2)
w = net.weight
adapted = {name: parameter - 0.1 * parameter ** 2 for name, parameter in net.named_parameters()}
learner.load_state_dict(adapted) #!
loss = learner(x).sum() #- loss = torch.func.functional_call(learner, adapted, (x,)).sum()
loss.backward()
#@ zero_grad_after_backward grad_cleared
net = nn.Linear(2, 1)
w = net.weight
optimizer = torch.optim.SGD(net.parameters(), 0.1)
loss = net(torch.ones(3, 2)).sum()
loss.backward()
optimizer.zero_grad() #! #-
#@ custom_backward_gives_none no_gradient
class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x, factor)
        return x * factor
    @staticmethod
    def backward(ctx, g):
        x, factor = ctx.saved_tensors
        return g * factor, None  #! #- return g * factor, (g * x).sum()
w = torch.tensor(2.0, requires_grad=True)
x = torch.randn(3, requires_grad=True)
loss = Scale.apply(x, w).sum()
loss.backward()
#@ branch_on_a_value branch
w = torch.tensor(0.3, requires_grad=True)
x = torch.tensor(2.0, requires_grad=True)
if w > 0: #!
    loss = x * 2 #- loss = x * torch.sigmoid(w)
else:
    loss = x * 3
loss.backward()
#@ index_by_a_parameter integer_cast
w = nn.Parameter(torch.tensor([0.4, 1.6]))
table = torch.randn(3, requires_grad=True)
k = w.long() #! #-
loss = table[k].sum() #- loss = (torch.sigmoid(w) * table[:2]).sum()
loss.backward()
#@ attention_overwritten unused
attend, project = nn.Linear(3, 3), nn.Linear(3, 1)
w = attend.weight
def block(x):
    out = torch.softmax(attend(x), dim=-1) * x #!
    out = x + 1.0 #- out = x + out
    return project(out)
loss = block(torch.randn(4, 3)).pow(2).mean()
loss.backward()
#@ one_helper_for_two_losses detach
make, judge = nn.Linear(3, 2), nn.Linear(2, 1)
w = make.weight
def score(fake, stop=False):
    return judge(fake.detach()).mean() #! #- return judge(fake.detach() if stop else fake).mean()
fake = make(torch.randn(4, 3))
score(fake, stop=True).backward()
loss = -score(fake)
loss.backward()
#@ hard_choice_by_scatter no_derivative
w = torch.randn(3, 4, requires_grad=True)
b = torch.ones(4, requires_grad=True)
soft = torch.softmax(w, dim=1)
hard = torch.zeros_like(soft).scatter_(1, soft.argmax(1, keepdim=True), 1.0) #! #- hard = soft
loss = ((hard - soft.detach() + b) ** 2).sum() #- loss = ((hard + b) ** 2).sum()
loss.backward()
#@ slices_copied_into_weights no_grad
hyper, net = nn.Linear(2, 4), nn.Linear(3, 1)
w, x = hyper.weight, torch.randn(5, 3)
flat = hyper(torch.ones(2))
with torch.no_grad():
    net.weight.copy_(flat[:3].view_as(net.weight)) #! #- pass
loss = net(x).pow(2).mean() #- loss = (x @ flat[:3] + net.bias).pow(2).mean()
loss.backward()
#@ loss_wrapped_again data
net = nn.Linear(3, 1)
w = net.weight
loss = net(torch.randn(4, 3)).pow(2).mean()
loss = torch.autograd.Variable(loss.data, requires_grad=True) #! #-
loss.backward()
#@ second_derivative_of_a_network create_graph
net = nn.Sequential(nn.Linear(1, 4), nn.Tanh(), nn.Linear(4, 1))
w = net[0].weight
x = torch.linspace(0, 1, 5)[:, None].requires_grad_()
u = net(x)
u_x = torch.autograd.grad(u.sum(), x)[0] #! #- u_x = torch.autograd.grad(u.sum(), x, create_graph=True)[0]
u_xx = torch.autograd.grad(u_x.sum(), x)[0] #- u_xx = torch.autograd.grad(u_x.sum(), x, create_graph=True)[0]
loss = (u_xx + u).pow(2).mean()
loss.backward()
#@ weights_that_took_a_step_with_nan nan_forward
w = torch.tensor([3.0, 0.0], requires_grad=True)
for step in range(2):
    w.grad = None
    loss = -torch.log(torch.softmax(w * 100.0, 0)).sum() #! #- loss = -torch.log_softmax(w * 100.0, 0).sum()
    loss.backward()
    with torch.no_grad():
        w -= 1e-4 * w.grad
#@ target_is_a_number not_tensor
w = torch.tensor([1.0, 2.0], requires_grad=True)
loss = (w * w).sum().item() #- loss = (w * w).sum()
#+ loss.backward()
"""
