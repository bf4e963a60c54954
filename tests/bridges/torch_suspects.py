"""PyTorch programs whose gradients exist but are wrong, and programs whose gradients only look wrong (connected).

:mod:`torch_cases` describes the format. Explanations are requested for the whole block. The shared first lines are in
:mod:`test_suspects`.
"""

CASES = """
#@ broadcast_in_the_loss broadcast
x = torch.randn(16, 4); y = x.sum(1)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(3):
    opt.zero_grad()
    loss = F.mse_loss(net(x), y)  #! #- loss = F.mse_loss(net(x).squeeze(-1), y)
    loss.backward()
    opt.step()
#@ swapped_arguments_of_a_binary_loss loss_input
net = nn.Linear(4, 1); opt = torch.optim.SGD(net.parameters(), 0.1)
x = torch.randn(8, 4); y = (x[:, :1] > 0).float()
loss = F.binary_cross_entropy(y, net(x).sigmoid())  #! #- loss = F.binary_cross_entropy(net(x).sigmoid(), y)
loss.backward(); opt.step(); opt.zero_grad()
#@ weights_broadcast broadcast
model = nn.Linear(5, 3)
opt = torch.optim.SGD(model.parameters(), 0.1)
x, y = torch.randn(12, 5), torch.randint(0, 3, (12,))
weight = torch.rand(12, 1)
per = F.cross_entropy(model(x), y, reduction="none")
loss = (per * weight).mean()  #! #- loss = (per * weight.squeeze(-1)).mean()
opt.zero_grad(); loss.backward(); opt.step()
#@ rewards_broadcast_with_the_values_of_a_target_network broadcast
q, target = nn.Linear(4, 2), nn.Linear(4, 2).requires_grad_(False)
opt = torch.optim.SGD(q.parameters(), 0.1)
state, action, reward = torch.randn(8, 4), torch.randint(0, 2, (8, 1)), torch.randn(8)
with torch.no_grad():
    best = target(state).max(1, keepdim=True)[0]
    goal = reward + 0.9 * best  #! #- goal = reward[:, None] + 0.9 * best
loss = F.smooth_l1_loss(q(state).gather(1, action), goal)
opt.zero_grad(); loss.backward(); opt.step()
#@ a_column_of_each_label broadcast
net, x, labels = nn.Linear(4, 6), torch.randn(16, 4), torch.randint(0, 6, (16,))
opt = torch.optim.SGD(net.parameters(), 0.1)
scores = F.log_softmax(net(x), 1)
picked = scores[:, labels]  #! #- picked = scores[torch.arange(16), labels]
loss = -picked.mean()
opt.zero_grad(); loss.backward(); opt.step()
#@ the_diagonal_of_the_columns_of_each_label connected
net, x, labels = nn.Linear(4, 6), torch.randn(16, 4), torch.randint(0, 6, (16,))
opt = torch.optim.SGD(net.parameters(), 0.1)
loss = -F.log_softmax(net(x), 1)[:, labels].diagonal().mean()
opt.zero_grad(); loss.backward(); opt.step()
#@ a_squashed_prediction_of_prices loss_input
net = nn.Linear(4, 1)
x = torch.randn(32, 4); price = 3 + x.sum(1, keepdim=True)
opt = torch.optim.SGD(net.parameters(), 0.1)
guess = torch.sigmoid(net(x))  #! #- guess = net(x)
loss = F.mse_loss(guess, price)
opt.zero_grad(); loss.backward(); opt.step()
#@ a_positive_prediction_of_noisy_counts connected
net = nn.Linear(4, 1)
x = torch.randn(32, 4); count = x.exp().sum(1, keepdim=True) + 0.1 * torch.randn(32, 1) - 1.5
opt = torch.optim.SGD(net.parameters(), 0.01)
loss = F.mse_loss(F.softplus(net(x)), count)
opt.zero_grad(); loss.backward(); opt.step()
#@ votes_are_added_at_repeated_places in_part
net, place = nn.Linear(3, 2), torch.tensor([0, 1, 1, 2, 0])
opt = torch.optim.SGD(net.parameters(), 0.1)
votes = net(torch.randn(5, 3))
total = torch.zeros(4, 2)
total[place] += votes  #! #- total = total.index_add(0, place, votes)
loss = (total - 1).pow(2).mean()
opt.zero_grad(); loss.backward(); opt.step()
#@ votes_are_added_at_different_places connected
net, place = nn.Linear(3, 2), torch.tensor([3, 1, 0])
opt = torch.optim.SGD(net.parameters(), 0.1)
total = torch.zeros(4, 2)
total[place] += net(torch.randn(3, 3))
loss = (total - 1).pow(2).mean()
opt.zero_grad(); loss.backward(); opt.step()
#@ scores_instead_of_log_probabilities loss_input
net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), 0.1)
x, y = torch.randn(12, 4), torch.randint(0, 3, (12,))
loss = nn.NLLLoss()(net(x), y)  #! #- loss = nn.CrossEntropyLoss()(net(x), y)
opt.zero_grad(); loss.backward(); opt.step()
#@ probabilities_instead_of_log_probabilities loss_input
net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), 0.1)
x, goal = torch.randn(12, 4), torch.rand(12, 3).softmax(1)
p = net(x).softmax(1)  #!  #- p = net(x).log_softmax(1)
loss = F.kl_div(p, goal, reduction="batchmean")
opt.zero_grad(); loss.backward(); opt.step()
#@ many_probabilities_instead_of_log_probabilities loss_input
class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(4, 50)
    def forward(self, x):
        return F.softmax(self.out(x), dim=-1)  #!  #- return F.log_softmax(self.out(x), dim=-1)
net = Classifier()
opt = torch.optim.SGD(net.parameters(), 0.1)
scores = net(torch.randn(6, 5, 4)).transpose(1, 2)
loss = nn.NLLLoss()(scores, torch.randint(0, 50, (6, 5)))
opt.zero_grad(); loss.backward(); opt.step()
#@ the_logarithm_of_probabilities connected
net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), 0.1)
loss = F.nll_loss((net(torch.randn(12, 4)).softmax(1) + 1e-9).log(), torch.randint(0, 3, (12,)))
opt.zero_grad(); loss.backward(); opt.step()
#@ class_numbers_as_targets_of_a_binary_loss loss_input
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), 0.1)
x, y = torch.randn(12, 4), torch.tensor([0.0, 1.0, 2.0] * 4)
#+ y = (y > 0).float()
loss = F.binary_cross_entropy_with_logits(net(x).squeeze(1), y)  #!
opt.zero_grad(); loss.backward(); opt.step()
#@ targets_of_a_binary_loss_are_smoothed connected
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), 0.1)
loss = F.binary_cross_entropy_with_logits(net(torch.randn(12, 4)), torch.empty(12, 1).uniform_(0.7, 1.2))
opt.zero_grad(); loss.backward(); opt.step()
#@ log_probabilities_with_a_mask connected
net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), 0.1)
scores = net(torch.randn(12, 4)).masked_fill(torch.tensor([False, False, True]), float("-inf"))
loss = F.nll_loss(F.log_softmax(scores, 1), torch.randint(0, 2, (12,)))
opt.zero_grad(); loss.backward(); opt.step()
#@ sigmoid_twice activation_twice
enc = nn.Linear(7, 3)
opt = torch.optim.SGD(enc.parameters(), 0.5)
x = torch.randn(9, 7); y = torch.randint(0, 2, (9, 3)).float()
p = torch.sigmoid(enc(x))
loss = nn.BCEWithLogitsLoss()(p, y)  #! #- loss = nn.BCELoss()(p, y)
loss.backward(); opt.step()
#@ a_backward_forgets_a_factor wrong_derivative
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3
    @staticmethod
    def backward(ctx, gradient):
        x, = ctx.saved_tensors
        return gradient * 3 * x  #! #- return gradient * 3 * x**2
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), 0.01)
loss = Cube.apply(net(torch.randn(8, 4))).mean()
loss.backward(); opt.step()
#@ a_backward_averages_the_bias wrong_derivative
class Affine(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias):
        ctx.save_for_backward(x, weight)
        return x @ weight.T + bias
    @staticmethod
    def backward(ctx, gradient):
        x, weight = ctx.saved_tensors
        return gradient @ weight, gradient.T @ x, gradient.mean(0)  #! #- return gradient @ weight, gradient.T @ x, \
gradient.sum(0)
net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), 0.01)
loss = Affine.apply(torch.randn(8, 4), net.weight, net.bias).pow(2).mean()
loss.backward(); opt.step()
#@ a_backward_ignores_its_gradient wrong_derivative
class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.result = x.clamp(max=10).exp()
        return ctx.result.clone()
    @staticmethod
    def backward(ctx, gradient):
        return ctx.result  #! #- return gradient * ctx.result
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), 0.01)
loss = Exp.apply(net(torch.randn(8, 4))).pow(2).mean()
loss.backward(); opt.step()
#@ a_rate_of_zero_beside_a_schedule not_applied
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), 0.0)  #! #- opt = torch.optim.SGD(net.parameters(), 0.1)
schedule = torch.optim.lr_scheduler.StepLR(opt, 2)
for step in range(4):
    opt.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    opt.step()
    schedule.step()
#@ a_rate_that_a_loop_sets_to_zero not_applied
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), 0.1)
schedule = torch.optim.lr_scheduler.StepLR(opt, 2)
for step in range(4):
    opt.param_groups[0]["lr"] = 0.1 * (step // 1000)  #! #- opt.param_groups[0]["lr"] = 0.1
    opt.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    opt.step()
#@ a_loss_with_the_value_of_another connected
net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), 0.01)
out = net(torch.randn(8, 4))
surrogate, value = out.abs().mean(), (out > 0.5).float().mean() + out.pow(2).mean()
loss = surrogate + (value - surrogate).detach()
opt.zero_grad(); loss.backward(); opt.step()
#@ a_penalty_is_cut_that_the_loss_adds in_part
net = nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 3))
opt = torch.optim.SGD(net.parameters(), 0.01)
penalty = sum(p.norm() for p in net.parameters()).detach()  #! #- penalty = sum(p.norm() for p in net.parameters())
loss = net(torch.randn(8, 4)).pow(2).mean() + 0.1 * penalty
opt.zero_grad(); loss.backward(); opt.step()
#@ a_self_distillation_adds_the_entropy_of_its_target connected
net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), 0.01)
x = torch.randn(8, 4)
p, q = net(x).softmax(1).detach(), net(x + 0.1 * torch.randn(8, 4)).log_softmax(1)
loss = (p * p.log()).sum(1).mean() - (p * q).sum(1).mean()
opt.zero_grad(); loss.backward(); opt.step()
#@ a_backward_overwrites_its_input connected
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        return x * x
    @staticmethod
    def backward(ctx, gradient):
        return ctx.x.mul_(2).mul_(gradient)
net = nn.Linear(4, 6)
opt = torch.optim.SGD(net.parameters(), 0.01)
loss = Square.apply(net(torch.randn(8, 4))).mean()
loss.backward(); opt.step()
#@ a_backward_overwrites_its_gradient connected
class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.result = x.clamp(max=5).exp()
        return ctx.result.clone()
    @staticmethod
    def backward(ctx, gradient):
        return gradient.mul_(ctx.result)
net = nn.Linear(4, 6)
opt = torch.optim.SGD(net.parameters(), 0.01)
loss = Exp.apply(net(torch.randn(8, 4))).pow(2).mean()
loss.backward(); opt.step()
#@ a_backward_that_overwrites_its_input_forgets_a_factor wrong_derivative
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        return x * x
    @staticmethod
    def backward(ctx, gradient):
        return ctx.x.mul_(gradient)  #! #- return ctx.x.mul_(2).mul_(gradient)
net = nn.Linear(4, 6)
opt = torch.optim.SGD(net.parameters(), 0.01)
loss = Square.apply(net(torch.randn(8, 4))).mean()
loss.backward(); opt.step()
#@ backwards_that_differ_on_purpose connected
class Sign(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.sign() * x.abs().mean()
    @staticmethod
    def backward(ctx, gradient):
        return gradient
class Clamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clamp(-0.5, 0.5)
    @staticmethod
    def backward(ctx, gradient):
        return gradient
class Flip(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x.view_as(x)
    @staticmethod
    def backward(ctx, gradient):
        return -ctx.factor * gradient, None
class Guided(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.exp()
    @staticmethod
    def backward(ctx, gradient):
        return gradient.clamp(min=0) * ctx.saved_tensors[0].exp()
class Smooth(torch.autograd.Function):
    '''The backward is a surrogate.'''
    @staticmethod
    def forward(ctx, x):
        return x**3
    @staticmethod
    def backward(ctx, gradient):
        return gradient
class Noise(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * torch.rand_like(x)
    @staticmethod
    def backward(ctx, gradient):
        return gradient
net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), 0.01)
h = net(torch.randn(8, 4))
loss = sum(each.apply(h).mean() for each in (Sign, Clamp, Guided, Smooth, Noise)) + Flip.apply(h, 0.5).pow(2).mean()
loss.backward(); opt.step()
#@ a_correct_backward_of_a_relu_whose_input_is_zero connected
class Rectify(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)
    @staticmethod
    def backward(ctx, gradient):
        return gradient * (ctx.saved_tensors[0] > 0)
net = nn.Linear(4, 3)
nn.init.zeros_(net.bias)
opt = torch.optim.SGD(net.parameters(), 0.01)
x = torch.randn(8, 4)
x[4:] = 0.0
loss = Rectify.apply(net(x)).pow(2).mean()
loss.backward(); opt.step()
#@ layers_in_list not_optimized
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = [nn.Linear(4, 4)]  #! #- self.hidden = nn.ModuleList([nn.Linear(4, 4)])
        self.out = nn.Linear(4, 1)
    def forward(self, x):
        for layer in self.hidden:
            x = torch.relu(layer(x))
        return self.out(x)
net = Net()
opt = torch.optim.SGD(net.parameters(), 0.1)
x, y = torch.randn(8, 4), torch.randn(8, 1)
for _ in range(3):
    loss = (net(x) - y).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
#@ layers_in_a_plain_class not_optimized
class Block:
    def __init__(self):
        self.linear = nn.Linear(4, 4)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()  #!
        #+ self.linear = self.block.linear
        self.out = nn.Linear(4, 1)
    def forward(self, x):
        return self.out(torch.tanh(self.block.linear(x)))
net = Net()
opt = torch.optim.SGD(net.parameters(), 0.1)
x, y = torch.randn(8, 4), torch.randn(8, 1)
for _ in range(3):
    loss = (net(x) - y).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
#@ schedule_that_stays_at_zero not_applied
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), 0.1)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda step: step // 10)  #! #- sched = \
torch.optim.lr_scheduler.LambdaLR(opt, lambda step: 0.9 ** step)
x = torch.randn(8, 4)
for _ in range(5):
    loss = (net(x) - 1).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step(); sched.step()
#@ cell_of_sigmoids vanishing
cell, head = nn.Linear(13, 10), nn.Linear(10, 2)
opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], 0.1)
x, h = torch.randn(6, 60, 3), torch.zeros(6, 10)  #- x, h = torch.randn(6, 4, 3), torch.zeros(6, 10)
for t in range(x.shape[1]):
    h = torch.sigmoid(cell(torch.cat([x[:, t], h], -1)))  #!
loss = nn.functional.cross_entropy(head(h), torch.randint(0, 2, (6,)))
opt.zero_grad(); loss.backward(); opt.step()
#@ tensors_that_are_not_cleared accumulated
w = torch.zeros(4, requires_grad=True)
opt = torch.optim.SGD([w], 0.01)
for _ in range(4):
    loss = (torch.randn(8, 4) @ w - 1).pow(2).mean()
    loss.backward()  #- opt.zero_grad(); loss.backward()
    opt.step()  #!
#@ forgot_step not_applied
model = nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), 0.1)
x, y = torch.randn(8, 3), torch.randn(8, 1)
for _ in range(4):
    opt.zero_grad()
    loss = (model(x) - y).pow(2).mean()
    loss.backward()  #!
    #+ opt.step()
#@ zero_before_step not_applied
model = nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), 0.1)
x, y = torch.randn(8, 3), torch.randn(8, 1)
for _ in range(4):
    loss = (model(x) - y).pow(2).mean()
    loss.backward()
    opt.zero_grad()  #! #- opt.step()
    opt.step()  #- opt.zero_grad()
#@ no_zero_grad accumulated
model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.SGD(model.parameters(), 0.01)
for _ in range(4):
    x, y = torch.randn(8, 3), torch.randn(8, 1)
    loss = (model(x) - y).pow(2).mean()
    loss.backward()  #- opt.zero_grad(); loss.backward()
    opt.step()  #!
#@ twenty_sigmoids vanishing
class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(16, 16) for _ in range(20)])
        self.out = nn.Linear(16, 2)
    def forward(self, x):
        for layer in self.layers:
            x = torch.sigmoid(layer(x))  #! #- x = x + torch.tanh(layer(x))
        return self.out(x)
net = Deep(); opt = torch.optim.SGD(net.parameters(), 0.1)
x, y = torch.randn(32, 16), torch.randint(0, 2, (32,))
loss = nn.functional.cross_entropy(net(x), y)
opt.zero_grad(); loss.backward(); opt.step()
#@ rnn_explodes exploding
w = nn.Parameter(torch.randn(12, 12))  #- w = nn.Parameter(nn.init.orthogonal_(torch.empty(12, 12)))
u = nn.Parameter(torch.randn(4, 12) * 0.1)
opt = torch.optim.SGD([w, u], 1e-3)
x = torch.randn(5, 30, 4)
h = torch.zeros(5, 12)
for t in range(30):
    h = x[:, t] @ u + h @ w  #!
loss = h.pow(2).mean()
opt.zero_grad(); loss.backward(); opt.step()
#@ lr_too_high exploding
model = nn.Linear(4, 1)
opt = torch.optim.SGD(model.parameters(), lr=50.0)  #- opt = torch.optim.SGD(model.parameters(), lr=0.05)
x, y = torch.randn(16, 4), torch.randn(16, 1)
for _ in range(6):
    opt.zero_grad()
    loss = (model(x) - y).pow(2).mean()
    loss.backward()
    opt.step()  #!
#@ layernorm_mean rounding_only
net = nn.Linear(6, 10)
norm = nn.LayerNorm(10, elementwise_affine=False)
opt = torch.optim.SGD(net.parameters(), 0.1)
x = torch.randn(8, 6)
h = norm(net(x))  #! #- h = torch.tanh(net(x))
loss = -h.mean()
loss.backward(); opt.step()
#@ term_from_a_number in_part
net = nn.Linear(4, 3)
opt = torch.optim.Adam(net.parameters())
x, y = torch.randn(8, 4), torch.randint(0, 3, (8,))
def terms(logits):
    z = logits.logsumexp(-1).pow(2).mean()
    z = torch.tensor(z.item())  #! #-
    return {"ce": nn.functional.cross_entropy(logits, y), "z": z}
for _ in range(2):
    parts = terms(net(x))
    loss = parts["ce"] + 1e-3 * parts["z"]
    opt.zero_grad()
    loss.backward()
    opt.step()
#@ pooled_softmax_sum rounding_only
score, out = nn.Linear(5, 1), nn.Linear(5, 3)
opt = torch.optim.SGD([*score.parameters(), *out.parameters()], 0.1)
x, y = torch.randn(8, 60, 5), torch.randn(8, 3)
w = score(x).softmax(1)  #!
loss = (out(x.mean(1)) * w.sum(1) - y).pow(2).mean()  #- loss = (out((x * w).sum(1)) - y).pow(2).mean()
loss.backward()
opt.step()
#@ clipped_infinite_norm exploding
w = nn.Parameter(torch.randn(10, 10) * 1.2)  #- w = nn.Parameter(torch.randn(10, 10) * 0.3)
into = nn.Linear(2, 10)
opt = torch.optim.SGD([w, *into.parameters()], 1e-3)
xs, y = torch.randn(25, 6, 2), torch.randn(6, 10)
for _ in range(2):
    h = torch.zeros(6, 10)
    for x in xs:
        h = torch.relu(h @ w + into(x))  #!
    loss = (h - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_([w, *into.parameters()], 1.0)
    opt.step()
#@ groups_without_a_parameter not_optimized
model = nn.Sequential(nn.Linear(6, 8), nn.LayerNorm(8), nn.Linear(8, 6))
matrices = [p for p in model.parameters() if p.ndim > 1]
opt = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.1}], 1e-3)  #!
#+ opt.add_param_group({"params": [p for p in model.parameters() if p.ndim == 1]})
x = torch.randn(32, 6)
for _ in range(2):
    opt.zero_grad()
    (model(x) - x.flip(1)).abs().mean().backward()
    opt.step()
#@ squashed_sample sampled
from torch.distributions import Normal
class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.mu, self.scale = nn.Linear(3, 2), nn.Linear(3, 2)
    def forward(self, obs):
        d = Normal(self.mu(obs), self.scale(obs).exp())
        a = d.sample()  #! #- a = d.rsample()
        return torch.tanh(a), d.log_prob(a).sum(-1)
actor, q = Actor(), nn.Linear(5, 1).requires_grad_(False)
opt = torch.optim.Adam(actor.parameters(), 1e-3)
obs = torch.randn(32, 3)
for _ in range(2):
    a, log_prob = actor(obs)
    loss = (0.2 * log_prob - q(torch.cat([obs, a], -1)).squeeze(-1)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
#@ vae_sample sampled
enc, dec = nn.Linear(10, 6), nn.Linear(3, 10)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], 1e-3)
x = torch.randn(20, 10)
mu, logvar = enc(x).chunk(2, -1)
q = torch.distributions.Normal(mu, (0.5 * logvar).exp())
z = q.sample()  #! #- z = q.rsample()
rec = (dec(z) - x).pow(2).sum(-1).mean()
kl = 0.5 * (mu ** 2 + logvar.exp() - 1 - logvar).sum(-1).mean()
loss = rec + kl
opt.zero_grad(); loss.backward(); opt.step()
#@ item_term in_part
net = nn.Linear(5, 5)
opt = torch.optim.SGD(net.parameters(), 0.1)
x = torch.randn(8, 5)
h = net(x)
penalty = h.abs().mean().item()  #! #- penalty = h.abs().mean()
loss = (h - x).pow(2).mean() + 0.1 * penalty
opt.zero_grad(); loss.backward(); opt.step()
#@ rewrapped_term in_part
net = nn.Linear(5, 5)
opt = torch.optim.SGD(net.parameters(), 0.1)
x, y = torch.randn(8, 5), torch.randint(0, 5, (8,))
out = net(x)
losses = [torch.tensor(out.norm() * 0.01)]  #! #- losses = [out.norm() * 0.01]
losses.append(nn.functional.cross_entropy(out, y))
loss = sum(losses)
opt.zero_grad(); loss.backward(); opt.step()
#@ pairwise connected
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), 0.01)
x, y = torch.randn(10, 4), torch.randn(10)
s = net(x).squeeze(-1)
margin = 1 - (s[:, None] - s) * torch.sign(y[:, None] - y)
loss = torch.relu(margin).mean()
opt.zero_grad(); loss.backward(); opt.step()
#@ accumulation connected
net = nn.Linear(4, 1); opt = torch.optim.SGD(net.parameters(), 0.1)
for step in range(2):
    opt.zero_grad()
    for _ in range(4):
        x = torch.randn(8, 4)
        (((net(x) - x[:, :1]) ** 2).mean() / 4).backward()
    opt.step()
#@ the_input_of_a_frozen_model connected
net, x = nn.Linear(4, 3).requires_grad_(False), torch.randn(2, 4, requires_grad=True)
net(x).pow(2).sum().backward()
#@ frozen_backbone connected
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.back, self.head = nn.Linear(4, 8), nn.Linear(8, 2)
        self.back.requires_grad_(False)
    def forward(self, x):
        return self.head(torch.relu(self.back(x)))
net = Net(); opt = torch.optim.Adam(net.head.parameters(), 1e-2)
for _ in range(2):
    loss = nn.functional.cross_entropy(net(torch.randn(8, 4)), torch.randint(0, 2, (8,)))
    opt.zero_grad(); loss.backward(); opt.step()
#@ attention connected
layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
head = nn.Linear(16, 3)
opt = torch.optim.AdamW([*layer.parameters(), *head.parameters()], 1e-3)
for _ in range(3):
    x, y = torch.randn(4, 7, 16), torch.randint(0, 3, (4,))
    loss = nn.functional.cross_entropy(head(layer(x).mean(1)), y)
    opt.zero_grad(); loss.backward(); opt.step()
#@ conv_bn_bias connected
net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 2))
opt = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
for _ in range(2):
    loss = nn.functional.cross_entropy(net(torch.randn(8, 1, 8, 8)), torch.randint(0, 2, (8,)))
    opt.zero_grad(); loss.backward(); opt.step()
#@ gan connected
G = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
D = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(), nn.Linear(8, 1))
og, od = torch.optim.Adam(G.parameters(), 1e-3), torch.optim.Adam(D.parameters(), 1e-3)
for _ in range(3):
    real, fake = torch.randn(8, 2), G(torch.randn(8, 4))
    od.zero_grad()
    one, zero = torch.ones(8, 1), torch.zeros(8, 1)
    true = F.binary_cross_entropy_with_logits(D(real), one)
    (true + F.binary_cross_entropy_with_logits(D(fake.detach()), zero)).backward()
    od.step()
    og.zero_grad()
    F.binary_cross_entropy_with_logits(D(fake), one).backward()
    og.step()
#@ scaler connected
net = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1)); opt = torch.optim.SGD(net.parameters(), 0.1)
scaler, off = torch.amp.GradScaler("cpu", init_scale=1024.0), torch.amp.GradScaler(enabled=False)
for _ in range(3):
    x = torch.randn(8, 16)
    opt.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):
        out = net(x)
    loss = (out.float() - 1).pow(2).mean()
    scaler.scale(loss).backward()
    scaler.unscale_(opt)
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    scaler.step(opt); scaler.update()
#@ vqvae_ste connected
enc, dec, code = nn.Linear(6, 3), nn.Linear(3, 6), nn.Embedding(16, 3)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters(), *code.parameters()], 1e-3)
x = torch.randn(20, 6)
z = enc(x)
i = torch.cdist(z, code.weight).argmin(-1)
q = code(i)
st = z + (q - z).detach()
loss = (dec(st) - x).pow(2).mean() + (q - z.detach()).pow(2).mean() + 0.25 * (z - q.detach()).pow(2).mean()
opt.zero_grad(); loss.backward(); opt.step()
#@ logged_items connected
net = nn.Linear(5, 1); opt = torch.optim.SGD(net.parameters(), 0.1)
history = []
for _ in range(3):
    x = torch.randn(8, 5); y = x.mean(1, keepdim=True)
    out = net(x)
    loss = (out - y).pow(2).mean()
    history.append(loss.item()); acc = (out > 0).float().mean().item()
    opt.zero_grad(); loss.backward(); opt.step()
#@ ppo connected
torch.manual_seed(1)
pi, vf = nn.Linear(4, 2), nn.Linear(4, 1)
opt = torch.optim.Adam([*pi.parameters(), *vf.parameters()], 1e-3)
s = torch.randn(16, 4)
with torch.no_grad():
    d = torch.distributions.Normal(pi(s), 1.0); a = d.sample(); old = d.log_prob(a).sum(-1)
adv, ret = torch.randn(16), torch.randn(16)
for _ in range(3):
    d = torch.distributions.Normal(pi(s), 1.0)
    ratio = (d.log_prob(a).sum(-1) - old).exp()
    value = 0.5 * (vf(s).squeeze(-1) - ret).pow(2).mean()
    loss = value - torch.min(ratio * adv, ratio.clamp(0.8, 1.2) * adv).mean()
    opt.zero_grad(); loss.backward(); opt.step()
#@ a_state_is_cut_off_in_each_step_of_a_loop in_part
cell = nn.Linear(8, 4)
optimizer = torch.optim.SGD(cell.parameters(), 0.1)
for step in range(2):
    h = torch.zeros(3, 4)
    for x in torch.randn(5, 3, 4):
        h = torch.tanh(cell(torch.cat([x, h.detach()], 1)))  #!  #- h = torch.tanh(cell(torch.cat([x, h], 1)))
    optimizer.zero_grad()
    h.pow(2).mean().backward()
    optimizer.step()
#@ each_step_of_a_loop_has_its_own_loss connected
cell = nn.Linear(8, 4)
optimizer = torch.optim.SGD(cell.parameters(), 0.1)
for step in range(2):
    h, loss = torch.zeros(3, 4), 0
    for x in torch.randn(5, 3, 4):
        h = torch.tanh(cell(torch.cat([x, h.detach()], 1)))
        loss = loss + h.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
#@ a_function_leaves_parameters_out_of_the_optimizer not_optimized
def build_optimizer(net):
    weights = [p for p in net.parameters() if p.dim() > 1]  #- weights = [*net.parameters()]
    return torch.optim.SGD([{"params": weights, "weight_decay": 0.01}], lr=0.1)  #!
net = nn.Linear(4, 1)
optimizer = build_optimizer(net)
for step in range(3):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
#@ a_class_of_the_program_leaves_parameters_out not_optimized
class Plain(torch.optim.Optimizer):
    def __init__(self, params):
        super().__init__(params, {"lr": 0.1})
    def step(self):
        for p in self.param_groups[0]["params"]:
            p.data -= 0.1 * p.grad
net = nn.Linear(4, 1)
optimizer = Plain([net.weight])  #!  #- optimizer = Plain([net.weight, net.bias])
for step in range(3):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
#@ norm_in_no_optimizer not_optimized
net, norm = nn.Linear(4, 1), nn.LayerNorm(4)
opt = torch.optim.SGD(net.parameters(), 0.1)  #!  #- opt = torch.optim.SGD([*net.parameters(), *norm.parameters()], 0.1)
for _ in range(2):
    loss = net(norm(torch.randn(8, 4))).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
#@ resnet_deep connected
torch.manual_seed(1)
class Block(nn.Module):
    def __init__(self):
        super().__init__(); self.n, self.f = nn.LayerNorm(16), nn.Linear(16, 16)
    def forward(self, x): return x + torch.relu(self.f(self.n(x)))
m = nn.Sequential(*[Block() for _ in range(16)], nn.Linear(16, 1)); opt = torch.optim.Adam(m.parameters(), 1e-3)
for _ in range(2):
    x = torch.randn(8, 16)
    opt.zero_grad(); (m(x) - 1).pow(2).mean().backward(); opt.step()
#@ sigmoid_twice_by_hand activation_twice
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), 0.1)
x, y = torch.randn(8, 4), torch.rand(8, 1)
z = torch.sigmoid(net(x))  #- z = net(x)
loss = (torch.log(1 + torch.exp(-z)) + (1 - y) * z).mean()  #!
loss.backward()
opt.step()
#@ log_of_probabilities connected
net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), 0.1)
x = torch.randn(8, 4)
p = torch.softmax(net(x), 1)
partition = torch.log(torch.exp(net(x)).sum(1))
loss = -(p * torch.log(p + 1e-8)).sum(1).mean() + partition.mean()
loss.backward()
opt.step()
#@ zeros_before_the_step not_applied
net = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 1)); opt = torch.optim.SGD(net.parameters(), 0.1)
x = torch.randn(8, 4)
for _ in range(3):
    (net(x) - 1).pow(2).mean().backward()
    opt.zero_grad(set_to_none=False)  #! #-
    opt.step()
    #- opt.zero_grad(set_to_none=False)
#@ sure_and_wrong connected
w = torch.full((2, 1), -9.0, requires_grad=True)
F.binary_cross_entropy(torch.sigmoid(torch.ones(8, 2) @ w), torch.ones(8, 1)).backward()
#@ advantage_of_a_number connected
policy, value, x, losses = nn.Linear(4, 2), nn.Linear(4, 1), torch.randn(4), []
for reward in torch.tensor([1.0, 2.0]):
    guess = value(x)
    advantage = reward - guess.item()
    losses += [-policy(x).log_softmax(0)[0] * advantage, F.smooth_l1_loss(guess, reward.unsqueeze(0))]
torch.stack(losses).sum().backward()
#@ choices_that_weigh connected
net, gate = nn.Linear(4, 3), nn.Linear(4, 3); opt = torch.optim.SGD([*net.parameters(), *gate.parameters()], 0.1)
x, y = torch.randn(8, 4), torch.randint(0, 3, (8,))
p = torch.sigmoid(gate(x))
hard = (p > 0.5).float() + p - p.detach()
probabilities = gate(x).softmax(1)
share = nn.functional.one_hot(probabilities.argmax(1), 3).float().mean(0)
balance = (share * probabilities.mean(0)).sum()
loss = nn.functional.cross_entropy(net(x) * hard, y) + 0.1 * hard.sum() / (p > 0.1).sum() + balance
opt.zero_grad(); loss.backward(); opt.step()
#@ target_network_of_a_module connected
class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.fast, self.slow = nn.Linear(4, 2), nn.Linear(4, 2)
agent = Agent(); agent.slow.load_state_dict(agent.fast.state_dict())
opt = torch.optim.SGD(agent.fast.parameters(), 0.1)
for _ in range(2):
    goal = 1.0 + 0.9 * agent.slow(torch.randn(8, 4)).max(1)[0].detach()
    loss = (agent.fast(torch.randn(8, 4)).max(1)[0] - goal).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    for slow, fast in zip(agent.slow.parameters(), agent.fast.parameters()):
        slow.data.lerp_(fast.data, 0.1)
#@ slope_without_its_graph in_part
net = nn.Sequential(nn.Linear(4, 8), nn.SiLU(), nn.Linear(8, 1)); opt = torch.optim.SGD(net.parameters(), 0.1)
x = torch.randn(8, 4, requires_grad=True)
slope, = torch.autograd.grad(net(x).sum(), x)  #! #- slope, = torch.autograd.grad(net(x).sum(), x, create_graph=True)
loss = net(x.detach()).pow(2).mean() + (slope.norm(dim=1) - 1).pow(2).mean()
opt.zero_grad(); loss.backward(); opt.step()
#@ sample_given_to_another_distribution sampled
where, rates, x = nn.Linear(4, 2), nn.Linear(2, 4), torch.poisson(torch.ones(8, 4))
q = torch.distributions.Normal(where(x), 1.0)
z = q.sample()  #! #- z = q.rsample()
likely = torch.distributions.Poisson(rates(z).exp()).log_prob(x).sum(1)
(-(likely - q.mean.pow(2).sum(1)).mean()).backward()
#@ term_that_is_cut_off in_part
net, x = nn.Linear(3, 3), torch.randn(8, 3)
size = net.weight.pow(2).sum().detach()  #! #- size = net.weight.pow(2).sum()
(net(x).pow(2).mean() + 0.1 * size).backward()
#@ broadcast_in_both_terms_of_a_maximum broadcast
critic = nn.Linear(4, 1)
opt = torch.optim.SGD(critic.parameters(), 0.1)
x, returns, old = torch.randn(12, 4), torch.randn(12), torch.randn(12)
for _ in range(3):
    value = critic(x)  #- value = critic(x).squeeze(-1)
    near = old + torch.clamp(value - old, -0.2, 0.2)
    loss = torch.max((value - returns) ** 2, (near - returns) ** 2).mean()  #!
    opt.zero_grad(); loss.backward(); opt.step()
#@ normal_of_computed_moments sampled
enc, dec = nn.Linear(6, 4), nn.Linear(2, 6)
opt = torch.optim.SGD([*enc.parameters(), *dec.parameters()], 0.001)
x = torch.randn(16, 6)
for _ in range(3):
    mean, spread = enc(x).chunk(2, 1)
    std = spread.exp()
    z = torch.normal(mean, std)  #! #- z = mean + std * torch.randn_like(std)
    loss = (dec(z) - x).pow(2).mean() + (mean.pow(2) + std.pow(2) - 2 * spread).mean()
    opt.zero_grad(); loss.backward(); opt.step()
#@ an_expert_that_no_row_chose connected
gate, experts = nn.Linear(4, 3), nn.ModuleList(nn.Linear(4, 4) for _ in range(3))
class Mixture(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.experts = gate, experts
    def forward(self, x):
        weights, choice = self.gate(x).softmax(-1).max(-1)
        y = torch.zeros_like(x)
        for k, expert in enumerate(self.experts):
            chosen = choice == k
            if k != 1 and chosen.any():
                y[chosen] = weights[chosen].unsqueeze(-1) * expert(x[chosen])
        return y
net = Mixture()
opt = torch.optim.SGD(net.parameters(), 0.1)
x = torch.randn(16, 4)
for _ in range(3):
    loss = (net(x) - x.flip(1)).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
#@ an_exploring_action_is_drawn_under_no_grad connected
net = nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(3):
    mean = net(torch.randn(8, 3))
    with torch.no_grad():
        action = torch.distributions.Normal(mean, 1.0).sample()
    loss = (mean - action.clamp(-1, 1)).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
#@ a_softmax_of_equal_adjoints_beside_another_path connected
net, mixing = nn.Linear(3, 4), nn.Parameter(torch.zeros(4, 4))
opt = torch.optim.Adam([*net.parameters(), mixing], 0.01)
for _ in range(3):
    scores = net(torch.randn(8, 3))
    loss = F.cross_entropy(scores + torch.softmax(scores, 1) @ (mixing + 1e-3), torch.arange(8) % 4)
    opt.zero_grad(); loss.backward(); opt.step()
#@ a_term_of_cut_features_beside_the_loss_of_another_network in_part
g, features, head = nn.Linear(4, 4), nn.Linear(4, 6), nn.Linear(6, 1)
g_opt, d_opt = [torch.optim.Adam(each) for each in (g.parameters(), [*features.parameters(), *head.parameters()])]
for _ in range(3):
    real = torch.randn(8, 4)
    fake = g(real)
    f_real, f_fake = features(real).tanh(), features(fake.detach()).tanh()
    d_opt.zero_grad(); (head(f_real) - head(f_fake)).pow(2).mean().backward(); d_opt.step()
    #+ f_fake, f_real = features(fake).tanh(), features(real).tanh()
    g_opt.zero_grad()
    loss = (fake - real).pow(2).mean() + 10 * (f_fake.detach() - f_real.detach()).pow(2).mean() #! #- loss = (fake - \
real).pow(2).mean() + 10 * (f_fake - f_real.detach()).pow(2).mean()
    loss.backward(); g_opt.step()
#@ constant_features_beside_a_term_with_a_gradient connected
g, features, head = nn.Linear(4, 4), nn.Linear(4, 6), nn.Linear(6, 1)
g_opt, d_opt = [torch.optim.Adam(each) for each in (g.parameters(), [*features.parameters(), *head.parameters()])]
for _ in range(3):
    real = torch.randn(8, 4)
    f_real = features(real).tanh()
    d_opt.zero_grad(); (head(f_real) - 1).pow(2).mean().backward(); d_opt.step()
    g_opt.zero_grad()
    loss = (g(real) - real).pow(2).mean() + (features(g(real)).tanh() - f_real.detach()).pow(2).mean()
    loss.backward(); g_opt.step()
#@ a_parameter_is_reshaped_at_once not_optimized
class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 2)
        self.place = nn.Parameter(torch.zeros(3)).unsqueeze(0)  #!  #- self.place = nn.Parameter(torch.zeros(1, 3))
    def forward(self, x):
        return self.layer(x + self.place)
model = Tower()
opt = torch.optim.SGD(model.parameters(), 0.1)
for step in range(3):
    loss = model(torch.randn(4, 3)).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
#@ a_relu_after_the_last_layer_of_the_net_in_a_model loss_input
class Thermometer(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(3, 8),
            nn.ReLU(),
            nn.Linear(8, 1),
            nn.ReLU(),  #!  #- nn.Identity(),
        )
    def forward(self, x):
        return self.net(x).squeeze(1)
model = Thermometer()
opt = torch.optim.SGD(model.parameters(), 0.01)
x = torch.randn(16, 3)
loss = F.mse_loss(model(x), x.sum(1) - 3)
opt.zero_grad(); loss.backward(); opt.step()
#@ a_softmax_layer_over_the_examples wrong_axis
net = nn.Sequential(
    nn.Linear(3, 4),
    nn.LogSoftmax(dim=0),  #!  #- nn.LogSoftmax(dim=1),
)
opt = torch.optim.SGD(net.parameters(), 0.1)
loss = F.nll_loss(net(torch.randn(5, 3)), torch.tensor([0, 1, 2, 3, 0]))
opt.zero_grad(); loss.backward(); opt.step()
#@ the_last_example_of_a_sequence_is_taken wrong_axis
rnn = nn.LSTM(3, 8) #- rnn = nn.LSTM(3, 8, batch_first=True)
head = nn.Linear(8, 2)
optimizer = torch.optim.SGD([*rnn.parameters(), *head.parameters()], 0.1)
out, _ = rnn(torch.randn(6, 5, 3))
loss = F.cross_entropy(head(torch.relu(out)[:, -1]), torch.tensor([0, 1, 0, 1, 1, 0]))  #!
loss.backward(); optimizer.step()
#@ an_average_over_the_examples_of_an_encoder wrong_axis
layer = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0) #- layer = nn.TransformerEncoderLayer(4, 2, 8, 0.0, \
batch_first=True)
head = nn.Linear(4, 1)
optimizer = torch.optim.SGD([*layer.parameters(), *head.parameters()], 0.1)
code = layer(torch.randn(6, 5, 4))
pooled = code.mean(dim=1)  #!
loss = head(pooled).pow(2).mean()
loss.backward(); optimizer.step()
#@ a_view_of_a_batch_as_a_sequence wrong_axis
rnn, head = nn.LSTM(3, 8), nn.Linear(8, 2)
optimizer = torch.optim.SGD([*rnn.parameters(), *head.parameters()], 0.1)
frames = torch.randn(6, 5, 3)
out, _ = rnn(frames.view(5, 6, 3))  #! #- out, _ = rnn(frames.transpose(0, 1))
loss = F.cross_entropy(head(out[-1]), torch.tensor([0, 1, 0, 1, 1, 0]))
loss.backward(); optimizer.step()
#@ heads_by_a_view wrong_axis
project, out = nn.Linear(16, 16), nn.Linear(16, 1)
optimizer = torch.optim.SGD([*project.parameters(), *out.parameters()], 0.1)
words = torch.randn(4, 7, 16)
queries = project(words).view(4, 7, 2, 8)
heads = queries.view(4, 2, 7, 8)  #! #- heads = queries.transpose(1, 2)
weights = F.softmax(heads @ heads.transpose(2, 3), dim=-1)
mixed = (weights @ heads).transpose(1, 2).reshape(4, 7, 16)
loss = out(mixed).pow(2).mean()
loss.backward(); optimizer.step()
#@ both_directions_of_a_final_state_in_a_view wrong_axis
rnn, head = nn.GRU(3, 8, bidirectional=True, batch_first=True), nn.Linear(16, 2)
optimizer = torch.optim.SGD([*rnn.parameters(), *head.parameters()], 0.1)
_, hidden = rnn(torch.randn(6, 5, 3))
code = hidden.view(6, -1)  #! #- code = hidden.transpose(0, 1).reshape(6, -1)
loss = F.cross_entropy(head(code), torch.tensor([0, 1, 0, 1, 1, 0]))
loss.backward(); optimizer.step()
#@ log_probabilities_over_the_examples wrong_axis
net, x, labels = nn.Linear(4, 3), torch.randn(6, 4), torch.tensor([0, 1, 0, 2, 1, 0])
optimizer = torch.optim.SGD(net.parameters(), 0.1)
scores = F.log_softmax(net(x), dim=0)  #! #- scores = F.log_softmax(net(x), dim=1)
loss = F.nll_loss(scores, labels)
loss.backward(); optimizer.step()
#@ attention_over_the_examples wrong_axis
query, head = nn.Linear(4, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*query.parameters(), *head.parameters()], 0.1)
words = torch.randn(3, 5, 4)
weights = F.softmax(query(words) @ words.transpose(1, 2), dim=0)  #! #- weights = F.softmax(query(words) @ \
words.transpose(1, 2), dim=-1)
loss = head(torch.bmm(weights, words)).pow(2).mean()
loss.backward(); optimizer.step()
#@ views_that_keep_each_example connected
rnn, head, conv = nn.LSTM(3, 8, 2, bidirectional=True), nn.Linear(32, 2), nn.Conv2d(3, 4, 3)
optimizer = torch.optim.SGD([*rnn.parameters(), *head.parameters(), *conv.parameters()], 0.1)
out, (hidden, cell) = rnn(torch.randn(5, 6, 3))
last = hidden.view(2, 2, 6, 8)[-1].transpose(0, 1).reshape(6, -1)
code = hidden.transpose(0, 1).contiguous().view(6, -1)
flat = cell.view(-1, 8)
pixels = conv(torch.randn(6, 3, 6, 5)).view(6, 4, -1)
steps = out.view(5, 6, 2, 8).sum(2)
zeros = torch.zeros(5, 6, 3).view(6, 5, 3)
_, (state, _) = rnn(zeros.transpose(0, 1))
loss = head(code).pow(2).mean() + flat.pow(2).mean() + pixels.pow(2).mean() + steps.pow(2).mean() + last.pow(2).mean()
(loss + state.pow(2).mean()).backward(); optimizer.step()
#@ a_relative_shift_of_positions connected
key, head = nn.Linear(6, 7), nn.Linear(7, 1)
optimizer = torch.optim.SGD([*key.parameters(), *head.parameters()], 0.1)
scores = key(torch.randn(2, 3, 5, 6))
padded = F.pad(scores, (1, 0))
shifted = padded.view(2, 3, 8, 5)[:, :, 1:].view_as(scores)
loss = head(shifted).pow(2).mean()
loss.backward(); optimizer.step()
#@ weights_that_share_a_total_on_purpose connected
assign, head = nn.Linear(4, 3), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*assign.parameters(), *head.parameters()], 0.1)
nodes = torch.randn(2, 5, 4)
clusters = torch.bmm(F.softmax(assign(nodes), dim=-1).transpose(1, 2), nodes)
experts = torch.softmax(assign(nodes), dim=0)
loss = head(clusters).pow(2).mean() + (experts * torch.randn(2, 5, 3)).sum(0).pow(2).mean()
loss.backward(); optimizer.step()
#@ two_signals_are_cut_into_windows connected
net = nn.Linear(4, 6)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
signals = net(torch.randn(2, 4))
windows = signals.view(6, 2)
loss = (windows.mean(1) - torch.randn(6)).pow(2).mean()
loss.backward(); optimizer.step()
#@ each_example_of_a_sequence_is_taken_in_a_loop connected
rnn, lengths = nn.LSTM(3, 8), [5, 4, 2]
optimizer = torch.optim.SGD(rnn.parameters(), 0.1)
out, _ = rnn(torch.randn(5, 3, 3))
last = torch.stack([out[:, i][lengths[i] - 1] for i in range(3)])
single, _ = rnn(torch.randn(5, 1, 3))
loss = (last + out[-1] + out.mean(0)).pow(2).mean() + single[:, 0].pow(2).mean()
loss.backward(); optimizer.step()
#@ an_encoder_with_exchanged_axes connected
layer = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0)
optimizer = torch.optim.SGD(layer.parameters(), 0.1)
code = layer(torch.randn(6, 5, 4).transpose(0, 1)).transpose(0, 1)
loss = code[:, 0].pow(2).mean() + code.mean(1).pow(2).mean()
loss.backward(); optimizer.step()
#@ the_sequences_of_one_batch_belong_together connected
rnn, layer, head = nn.GRU(4, 8), nn.GRU(4, 8), nn.Linear(8, 2)
optimizer = torch.optim.SGD([*rnn.parameters(), *layer.parameters(), *head.parameters()], 0.1)
pair, _ = rnn(torch.randn(7, 2, 4))
left = pair[:, 0]
right = pair[:, -1]
joints, _ = layer(torch.randn(7, 5, 4))
pose = joints.mean(1)
first = joints[:, 0]
loss = (left * right).sum(1).mean() + F.cross_entropy(head(pose + first), torch.tensor([0, 1, 0, 1, 1, 0, 1]))
loss.backward(); optimizer.step()
#@ a_relu_before_a_sigmoid_loss loss_input
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
h = net(torch.randn(8, 4))
logits = F.relu(h) #! #- logits = h
loss = F.binary_cross_entropy_with_logits(logits[:, 0], torch.tensor([0.0, 1, 0, 1, 1, 0, 1, 0]))
loss.backward(); optimizer.step()
#@ limited_logits_of_one_class connected
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
h = net(torch.randn(8, 4))
loss = F.binary_cross_entropy_with_logits(F.relu(h), torch.ones(8, 1)) + F.binary_cross_entropy_with_logits(\
    5 * torch.tanh(h), torch.tensor([[0.0], [1], [0], [1], [1], [0], [1], [0]])) + F.cross_entropy(\
    F.relu(net(torch.randn(2, 4)).T), torch.tensor([1]))
loss.backward(); optimizer.step()
#@ the_difference_of_a_straight_through_code_is_not_detached cancelled
encoder, codes, decoder = nn.Linear(6, 4), nn.Embedding(8, 4), nn.Linear(4, 6)
opt = torch.optim.Adam([*encoder.parameters(), *codes.parameters(), *decoder.parameters()], 0.01)
x = torch.randn(16, 6)
for _ in range(3):
    opt.zero_grad()
    z = encoder(x)
    q = codes(torch.cdist(z, codes.weight).argmin(1))
    loss = F.mse_loss(q, z.detach()) + 0.25 * F.mse_loss(z, q.detach())
    q = z + (q - z)  #! #- q = z + (q - z).detach()
    loss = loss + F.mse_loss(decoder(q), x)
    loss.backward()
    opt.step()
#@ a_hard_choice_minus_and_plus_the_soft_one cancelled
score, value = nn.Linear(6, 4), nn.Linear(4, 1)
opt = torch.optim.SGD([*score.parameters(), *value.parameters()], 0.1)
soft = score(torch.randn(16, 6)).softmax(1)
hard = F.one_hot(soft.argmax(1), 4).float()
choice = hard - soft + soft  #! #- choice = hard - soft.detach() + soft
loss = value(choice).pow(2).mean()
opt.zero_grad(); loss.backward(); opt.step()
#@ an_euler_step_of_size_one connected
encoder, update = nn.Linear(6, 4), nn.Linear(4, 4)
opt = torch.optim.SGD([*encoder.parameters(), *update.parameters()], 0.1)
h = encoder(torch.randn(16, 6))
for _ in range(4):
    h = h + (-h + torch.tanh(update(h)))
loss = h.pow(2).mean()
opt.zero_grad(); loss.backward(); opt.step()
#@ differences_of_potentials_add_up connected
potential, value = nn.Linear(6, 4), nn.Linear(4, 1)
opt = torch.optim.SGD([*potential.parameters(), *value.parameters()], 0.1)
states = [potential(torch.randn(16, 6)) for _ in range(5)]
gain = sum(after - before for before, after in zip(states, states[1:]))
loss = value(gain).pow(2).mean()
opt.zero_grad(); loss.backward(); opt.step()
#@ ratings_that_start_at_zero connected
ratings = nn.Parameter(torch.zeros(6))
opt = torch.optim.SGD([ratings], 0.1)
loss = F.softplus(ratings[1:2] - ratings[0:1]).mean() + F.softplus(ratings[4:6] - ratings[2:4]).mean()
opt.zero_grad(); loss.backward(); opt.step()
#@ a_hidden_layer_begins_with_equal_weights equal_units
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
for layer in (net[0], net[2]):
    nn.init.zeros_(layer.bias)
    nn.init.constant_(layer.weight, 0.1)  #! #- nn.init.xavier_uniform_(layer.weight)
opt = torch.optim.Adam(net.parameters(), 0.01)
x, y = torch.randn(12, 4), torch.randint(0, 3, (12,))
for _ in range(4):
    opt.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
#@ only_the_last_layer_begins_with_equal_weights connected
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
nn.init.constant_(net[2].weight, 0.1)
nn.init.zeros_(net[2].bias)
opt = torch.optim.Adam(net.parameters(), 0.01)
x, y = torch.randn(12, 4), torch.randint(0, 3, (12,))
for _ in range(4):
    opt.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
#@ hidden_units_begin_with_zeros equal_units
hidden, output = nn.Linear(2, 8), nn.Linear(8, 1)
nn.init.zeros_(hidden.bias)
nn.init.zeros_(hidden.weight)  #!  #- nn.init.xavier_uniform_(hidden.weight)
nn.init.zeros_(output.weight)
opt = torch.optim.SGD([*hidden.parameters(), *output.parameters()], 0.5)
x, y = torch.randn(12, 2), torch.randn(12, 1)
for _ in range(5):
    opt.zero_grad()
    loss = F.mse_loss(output(torch.sigmoid(hidden(x))), y)
    loss.backward()
    opt.step()
#@ a_second_derivative_of_leaky_relus in_part
net = nn.Sequential(nn.Linear(1, 8), nn.LeakyReLU(), nn.Linear(8, 1))  #!  #- net = nn.Sequential(nn.Linear(1, 8), \
nn.Tanh(), nn.Linear(8, 1))
x = torch.linspace(0, 1, 6).view(6, 1).requires_grad_()
u = net(x)
du, = torch.autograd.grad(u.sum(), x, create_graph=True)
ddu, = torch.autograd.grad(du.sum(), x, create_graph=True)
loss = (ddu + 1).pow(2).mean() + u.pow(2).mean()
loss.backward()
#@ a_penalty_of_the_first_derivative_of_a_relu connected
net = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
x = torch.randn(6, 2, requires_grad=True)
slope, = torch.autograd.grad(net(x).sum(), x, create_graph=True)
loss = (slope.norm(dim=1) - 1).pow(2).mean() + net(x).mean()
loss.backward()
"""
