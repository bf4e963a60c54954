"""Programs whose gradient consists of zeros or NaNs. :mod:`torch_cases` describes the marks."""

CASES = """
#@ sign_activation zero_derivative
w = torch.randn(3, 2, requires_grad=True)
h = torch.sign(torch.randn(4, 3) @ w) #! #- h = torch.tanh(torch.randn(4, 3) @ w)
loss = h.sum()
loss.backward()
#@ dead_relu dead_relu
net = nn.Linear(3, 4)
with torch.no_grad():
    net.bias.fill_(-100.0)
w = net.weight
loss = torch.relu(net(torch.randn(5, 3))).mean() #! #- loss = torch.nn.functional.leaky_relu(net(torch.randn(5, \
3))).mean()
loss.backward()
#@ saturated_sigmoid saturated
w = torch.tensor([200.0, 300.0], requires_grad=True)
p = torch.sigmoid(w) #! #- p = torch.sigmoid(w / 100)
loss = ((p - 0.5) ** 2).sum()
loss.backward()
#@ relu6_at_its_upper_limit saturated
w = torch.tensor([7.0, -1.0], requires_grad=True) #- w = torch.tensor([5.0, -1.0], requires_grad=True)
loss = torch.nn.functional.relu6(w)[0] #!
loss.backward()
#@ mask_of_zeros zero_factor
w = torch.randn(3, requires_grad=True)
mask = torch.zeros(3) #- mask = torch.ones(3)
loss = (w * mask).sum() #!
loss.backward()
#@ other_rows_are_taken not_selected
table = torch.randn(5, 2)
w = torch.randn(3, 2, requires_grad=True)
both = torch.cat([table, w])
loss = both[:5].sum() #! #- loss = both.sum()
loss.backward()
#@ a_step_with_nan_is_taken_and_cleared nan_backward
w = torch.zeros(3, requires_grad=True)
optimizer = torch.optim.SGD([w], 0.1)
loss = torch.sqrt((w ** 2).sum()) #! #- loss = torch.sqrt(((w - 1) ** 2).sum() + 1e-12)
loss.backward()
optimizer.step()
optimizer.zero_grad() #- pass
#@ all_targets_are_ignored nan_forward
w = torch.randn(3, 4, requires_grad=True)
targets = torch.full((3,), -100) #- targets = torch.tensor([0, -100, 2])
loss = torch.nn.functional.cross_entropy(w, targets) #!
loss.backward()
#@ a_cell_that_remembers_nothing zero_factor
cell, state, loss = nn.GRUCell(2, 3), torch.zeros(4, 3), 0.0
w = cell.weight_hh
for step in range(3):
    new = cell(torch.randn(4, 2), state) #! #- new = state = cell(torch.randn(4, 2), state)
    loss = loss + new.pow(2).sum()
loss.backward()
#@ sqrt_of_zero nan_backward
w = torch.zeros(3, requires_grad=True)
d = torch.sqrt((w ** 2).sum()) #! #- d = torch.sqrt(((w - 1) ** 2).sum() + 1e-12)
loss = d * 2
loss.backward()
#@ where_hides_the_root nan_backward
w = torch.tensor([0.0, 2.0], requires_grad=True)
y = torch.sqrt(w) #! #- y = torch.sqrt(torch.where(w > 0, w, 1.0))
loss = torch.where(w > 0, y, 0.0).sum()
loss.backward()
#@ exp_overflows nan_forward
w = torch.tensor([100.0, 1.0], requires_grad=True)
e = torch.exp(w) #! #- p = torch.softmax(w, dim=0)
p = e / e.sum() #-
loss = (p * torch.tensor([1.0, 2.0])).sum() #- loss = torch.logsumexp(w, dim=0)
loss.backward()
#@ nan_in_the_data nan_input
x = torch.tensor([[1.0, float("nan")], [2.0, 3.0]]) #!
w = torch.ones(2, requires_grad=True)
loss = ((x @ w) ** 2).mean() #- loss = ((torch.nan_to_num(x) @ w) ** 2).mean()
loss.backward()
#@ missing_targets_are_masked_too_late nan_input
y = torch.tensor([[1.0], [2.0], [float("nan")]])
w = torch.ones(2, 1, requires_grad=True)
missing = torch.isnan(y)
errors = torch.ones(3, 2) @ w - y #! #- errors = torch.ones(3, 2) @ w - torch.where(missing, 0.0, y)
loss = torch.where(missing, 0.0, errors ** 2).sum()
loss.backward()
#@ missing_elements_are_marked_by_the_program nan_input
y = torch.ones(3, 1)
y[2] = float("nan")
w = torch.ones(2, 1, requires_grad=True)
errors = (torch.ones(3, 2) @ w - y) ** 2 #! #- errors = (torch.ones(3, 2) @ w - torch.nan_to_num(y)) ** 2
loss = errors.masked_fill(torch.isnan(y), 0.0).sum()
loss.backward()
#@ fully_masked_row_of_attention nan_forward
w = torch.randn(2, 2, requires_grad=True)
scores = torch.eye(2) @ w
mask = torch.tensor([[True, True], [False, True]])
scores = scores.masked_fill(mask, float("-inf")) #! #- scores = scores.masked_fill(mask & ~mask.all(1, keepdim=True), \
float("-inf"))
loss = (torch.softmax(scores, dim=-1) @ w).sum()
loss.backward()
#@ log_scale_is_clamped saturated
w = torch.tensor([-30.0, -25.0], requires_grad=True)
scale = torch.exp(torch.clamp(w, -20.0, 2.0)) #! #- scale = torch.exp(torch.tanh(w / 100))
loss = torch.log(scale).sum()
loss.backward()
#@ norm_zero_divide nan_forward
w = torch.zeros(3, requires_grad=True)
u = w / w.norm() #! #- u = w / (w.norm() + 1e-6) + w
loss = u.sum()
loss.backward()
#@ std_of_one_element nan_forward
w = torch.randn(1, requires_grad=True)
s = w.std() #! #- s = w.std(unbiased=False) + w.sum()
loss = s * 2
loss.backward()
#@ power_half nan_backward
w = torch.tensor([0.0, 4.0], requires_grad=True)
r = w ** 0.5 #! #- r = (w + 1e-8) ** 0.5
loss = r.sum()
loss.backward()
#@ log_of_softmax nan_forward
w = torch.tensor([[200.0, 0.0]], requires_grad=True)
p = torch.softmax(w, 1)
l = torch.log(p) #! #- l = torch.log_softmax(w, 1)
loss = -l[0, 1]
loss.backward()
#@ hinge_is_satisfied dead_relu
w = torch.tensor([5.0, 6.0], requires_grad=True)
loss = torch.relu(1 - w).mean() #! #- loss = nn.functional.softplus(1 - w).mean()
loss.backward()
#@ triplet_margin_satisfied saturated
w = torch.tensor([[0.0, 0.1]], requires_grad=True)
loss = nn.functional.triplet_margin_loss(w, torch.zeros(1, 2), torch.full((1, 2), 9.0)) #! #- loss = \
nn.functional.triplet_margin_loss(w, torch.zeros(1, 2), torch.full((1, 2), 0.2))
loss.backward()
#@ cross_entropy_over_one_class zero_cancels
net = nn.Linear(3, 1) #- net = nn.Linear(3, 2)
w = net.weight
loss = nn.functional.cross_entropy(net(torch.randn(4, 3)), torch.zeros(4, dtype=torch.long)) #!
loss.backward()
#@ coefficient_of_zero zero_factor
w = torch.randn(3, requires_grad=True)
v = torch.randn(3, requires_grad=True)
lam = 0.0 #- lam = 0.1
loss = (v ** 2).sum() + lam * (w ** 2).sum() #!
loss.backward()
#@ rows_of_a_jacobian_begin_with_zeros zero_seed
w = torch.randn(3, requires_grad=True)
loss = torch.tanh(torch.randn(3, 3) @ w)
direction = torch.zeros(3) #- direction = torch.ones(3)
loss.backward(direction) #!
#@ softmax_of_shifted_logits zero_cancels
w = torch.tensor(0.5, requires_grad=True)
scores = torch.eye(3, dtype=torch.float64) + w
p = torch.softmax(torch.zeros(3, dtype=torch.float64) + scores[:1, :1], 1) #! #- p = torch.sigmoid(scores)
loss = p.sum()
loss.backward()
#@ rows_by_an_empty_mask not_selected
w = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
hard = w[w[:, 0] > 100] #! #- hard = w[w[:, 0] > 1]
loss = hard.sum()
loss.backward()
#@ nearest_grid_sample zero_derivative
image = torch.rand(1, 1, 6, 6)
w = torch.tensor([[[1.0, 0.1, 0.0], [0.0, 0.9, 0.1]]], requires_grad=True)
grid = nn.functional.affine_grid(w, image.shape, align_corners=False)
warped = nn.functional.grid_sample(image, grid, mode="nearest", align_corners=False) #! #- warped = \
nn.functional.grid_sample(image, grid, align_corners=False)
loss = ((warped - image) ** 2).mean()
loss.backward()
#@ mean_where_the_mask_is_empty nan_forward
w = torch.randn(3, requires_grad=True)
mask = torch.tensor([[1.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
means = (torch.exp(w) * mask).sum(1) / mask.sum(1) #! #- means = (torch.exp(w) * mask).sum(1) / mask.sum(1).clamp(min=1)
loss = means.mean()
loss.backward()
#@ softmax_layer_of_one_output zero_cancels
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.out, self.softmax = nn.Linear(3, 1), nn.Softmax(dim=1)
    def forward(self, x):
        return self.softmax(self.out(x)) #! #- return torch.sigmoid(self.out(x))
net = Net()
w = net.out.weight
loss = (net(torch.randn(4, 3)) - 0.5).pow(2).sum()
loss.backward()
#@ two_uses_cancel zero_sum
w = torch.tensor([1.0, 2.0], requires_grad=True)
loss = (w * 2 - w * 2).sum() #! #- loss = (w * 2 + w * 2).sum()
loss.backward()
#@ two_factors_begin_with_zeros zero_factor
a = nn.Parameter(torch.zeros(2, 5))  #- a = nn.Parameter(torch.randn(2, 5))
w = nn.Parameter(torch.zeros(4, 2))  #!
loss = (torch.randn(3, 4) @ w @ a - 1).pow(2).sum()
loss.backward()
"""
