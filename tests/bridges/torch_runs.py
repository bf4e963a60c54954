"""Programs whose gradients arrive, and are lost or misused on their way to the weights.

:mod:`torch_cases` describes the format. The causes are those of the whole run; the shared first lines are in
:mod:`test_run_watch`.
"""

CASES = """
#@ gradients_of_the_generator_are_left_in_the_discriminator leftover
g, d = nn.Linear(2, 2), nn.Linear(2, 1)
g_optimizer, d_optimizer = torch.optim.Adam(g.parameters()), torch.optim.Adam(d.parameters())
for step in range(4):
    d(g(torch.randn(8, 2))).mean().backward()
    g_optimizer.step()
    g_optimizer.zero_grad()
    #+ d_optimizer.zero_grad()
    d(torch.randn(8, 2)).pow(2).mean().backward()
    d_optimizer.step()  #!
    d_optimizer.zero_grad()
#@ micro_batches_are_discarded discarded
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(12):
    if True:  #- if step % 3 == 0:
        optimizer.zero_grad()  #!
    net(torch.randn(8, 4)).pow(2).mean().backward()
    if step % 3 == 2:
        optimizer.step()
#@ the_optimizer_holds_a_copy_of_the_latent_code not_optimized
generator = nn.Linear(3, 4).requires_grad_(False)
latent = torch.randn(1, 3, requires_grad=True)
copy = latent.clone().detach().requires_grad_(True)  #- copy = latent
optimizer = torch.optim.Adam([copy], 0.1)
for step in range(5):
    optimizer.zero_grad()
    generator(latent).pow(2).mean().backward()
    optimizer.step()  #!
#@ cleared_before_the_step not_applied
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(4):
    #+ optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.zero_grad()  #!  #- pass
    optimizer.step()
#@ never_cleared accumulated
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.01)
for step in range(4):
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()  #!
    #+ optimizer.zero_grad()
#@ clipped_while_scaled clipped_scaled
net = nn.Linear(4, 1)
optimizer, scaler = torch.optim.SGD(net.parameters(), 0.1), torch.amp.GradScaler("cpu", init_scale=1024.0)
for step in range(4):
    optimizer.zero_grad()
    scaler.scale(net(torch.randn(8, 4)).pow(2).mean()).backward()
    #+ scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(net.parameters(), max_norm=1.0)  #!
    scaler.step(optimizer)
    scaler.update()
#@ a_loop_assigns_to_its_own_variable_and_uses_it connected
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(6):
    optimizer.zero_grad()
    total = 0.0
    for weight in net.parameters():
        weight = weight + 1.0
        if step >= 0:
            total = total + weight.pow(2).sum()
    total.backward()
    optimizer.step()
#@ the_state_of_the_first_of_two_layers no_effect
gru, head = nn.GRU(3, 4, num_layers=2, batch_first=True), nn.Linear(4, 1)
optimizer = torch.optim.Adam([*gru.parameters(), *head.parameters()], 0.01)
for step in range(6):
    optimizer.zero_grad()
    _, state = gru(torch.randn(8, 5, 3))  #!
    state = state[0]  #- state = state[-1]
    head(state).pow(2).mean().backward()
    optimizer.step()
#@ the_generator_of_parameters_is_spent not_clipped
net = nn.Linear(4, 1)
parameters = net.parameters()  #- parameters = list(net.parameters())
optimizer = torch.optim.SGD(parameters, 0.1)
for step in range(4):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    nn.utils.clip_grad_norm_(parameters, 1.0)  #!
    optimizer.step()
#@ the_scaler_is_never_updated scaler
net = nn.Linear(4, 1)
optimizer, scaler = torch.optim.SGD(net.parameters(), 1e-3), torch.amp.GradScaler("cpu")
for step in range(6):
    optimizer.zero_grad()
    scaler.scale(net(torch.randn(8, 4)).pow(2).mean()).backward()
    try:
        scaler.step(optimizer)  #!
    except RuntimeError:
        pass
    #+ scaler.update()
#@ the_loss_is_not_scaled scaler
net = nn.Linear(4, 1)
optimizer, scaler = torch.optim.SGD(net.parameters(), 1e-3), torch.amp.GradScaler("cpu")
for step in range(4):
    optimizer.zero_grad()
    scaler.scale(torch.ones(1))
    net(torch.randn(8, 4)).pow(2).mean().backward()  #- scaler.scale(net(torch.randn(8, 4)).pow(2).mean()).backward()
    scaler.step(optimizer)  #!
    scaler.update()
#@ the_optimizer_steps_on_scaled_gradients scaler
net = nn.Linear(4, 1)
optimizer, scaler = torch.optim.SGD(net.parameters(), 1e-9), torch.amp.GradScaler("cpu")
for step in range(4):
    optimizer.zero_grad()
    scaler.scale(net(torch.randn(8, 4)).pow(2).mean()).backward()
    optimizer.step()  #!  #- scaler.step(optimizer); scaler.update()
#@ a_parameter_is_replaced_after_the_optimizer_was_made not_optimized
net = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), 0.1)
net[1] = nn.Linear(4, 1)  #!  #- pass
net[1].weight.data[:] = 0.5
for step in range(4):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
#@ a_model_grows_after_the_optimizer_was_made not_optimized
class Growing(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 1)
    def grow(self):
        self.b = nn.Linear(4, 2)
    def forward(self, x):
        return self.b(self.a(x))
net = Growing()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
net.grow()  #!
#+ optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(4):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
#@ a_trained_scale_is_a_buffer not_optimized
class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.register_buffer("scale", torch.ones(4, requires_grad=True))  #- self.scale = nn.Parameter(torch.ones(4))
    def forward(self, x):
        return self.a(x) * self.scale
net = Scaled()
optimizer = torch.optim.SGD(net.parameters(), 0.01)
for step in range(6):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()  #!
#@ buffers_that_are_not_trained connected
class Centered(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.register_buffer("mean", torch.zeros(4))
        self.register_buffer("probe", torch.zeros(4, requires_grad=True))
    def forward(self, x):
        return self.a(x - self.mean) + self.probe
net = Centered()
optimizer = torch.optim.SGD(net.parameters(), 0.01)
for step in range(6):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    net.probe.grad = None
    optimizer.step()
#@ a_model_grows_late_in_the_run not_optimized
net = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 1))
optimizer = torch.optim.SGD(net.parameters(), 0.01)
for step in range(90):
    if step == 75:
        net.append(nn.Linear(1, 1))  #!
        #+ optimizer.add_param_group({"params": [*net[3].parameters()]})
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
#@ the_optimizer_of_a_late_phase_never_clears accumulated
net, head = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 1)), nn.Linear(6, 2)
optimizer = torch.optim.SGD(net.parameters(), 0.01)
for step in range(75):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
tuned = torch.optim.Adam(head.parameters(), 0.01)
for step in range(12):
    head(net[:2](torch.randn(8, 4)).detach()).pow(2).mean().backward()
    tuned.step()  #!
    #+ tuned.zero_grad()
#@ both_optimizers_hold_the_same_network not_optimized
g, d = nn.Linear(2, 2), nn.Linear(2, 1)
g_optimizer = torch.optim.SGD(g.parameters(), 0.01)
d_optimizer = torch.optim.SGD(g.parameters(), 0.01)  #!  #- d_optimizer = torch.optim.SGD(d.parameters(), 0.01)
for step in range(6):
    d.zero_grad()
    fake = g(torch.randn(8, 2))
    (d(torch.randn(8, 2)).pow(2).mean() - d(fake.detach()).pow(2).mean().tanh()).backward()
    d_optimizer.step()
    g.zero_grad()
    d(g(torch.randn(8, 2))).pow(2).mean().backward()
    g_optimizer.step()
#@ two_optimizers_train_the_same_network_in_turn connected
net = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 1))
first, second = torch.optim.SGD(net.parameters(), 0.01), torch.optim.SGD(net.parameters(), 0.02)
for step in range(6):
    for optimizer in (first, second):
        optimizer.zero_grad()
        net(torch.randn(8, 4)).pow(2).mean().backward()
        optimizer.step()
#@ a_layer_is_unfrozen_late_and_no_optimizer_holds_it not_optimized
net = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 1))
net[0].requires_grad_(False)
optimizer = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], 0.01)
for step in range(200):
    if step == 100:
        net[0].requires_grad_(True)
        #+ optimizer.add_param_group({"params": [*net[0].parameters()]})
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()  #!
#@ a_second_phase_begins_late connected
net = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 1))
for rate in (0.1, 0.01):
    optimizer = torch.optim.Adam(net.parameters(), rate)
    for step in range(70):
        optimizer.zero_grad()
        net(torch.randn(8, 4)).pow(2).mean().backward()
        optimizer.step()
#@ a_layer_is_remade_in_each_step not_optimized
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 1)
    def forward(self, x):
        self.b = nn.Linear(4, 1)  #!  #- pass
        return self.b(self.a(x))
net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(6):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
#@ no_step_is_taken not_applied
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(4):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()  #!
    #+ optimizer.step()
#@ the_rate_is_zero not_applied
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
Schedule = torch.optim.lr_scheduler.LambdaLR
schedule = Schedule(optimizer, lambda step: step // 100)  #!  #- schedule = Schedule(optimizer, lambda step: 0.5)
for step in range(6):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
    schedule.step()
#@ the_rate_is_zero_because_of_the_second_schedule not_applied
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
decay = torch.optim.lr_scheduler.StepLR(optimizer, 100)
ramp = torch.optim.lr_scheduler.LinearLR(optimizer, 1e-9, 0.0, 1)  #!  #- ramp = decay
for step in range(6):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
    ramp.step()
    decay.step()
#@ updates_are_rounded_away not_applied
net = nn.Linear(4, 1).to(torch.bfloat16)  #- net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 1e-5)
for step in range(6):
    optimizer.zero_grad()
    net(torch.ones(8, 4, dtype=net.weight.dtype)).sub(3).pow(2).mean().backward()
    optimizer.step()  #!
#@ updates_are_undone not_applied
net = nn.Linear(4, 1)
state = {name: value.clone() for name, value in net.state_dict().items()}
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(6):
    net.load_state_dict(state)  #- pass
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()  #!
#@ the_optimizer_is_remade optimizer_remade
net = nn.Linear(4, 1)
optimizer = torch.optim.Adam(net.parameters())
for step in range(5):
    optimizer = torch.optim.Adam(net.parameters())  #!  #- pass
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
#@ an_epoch_schedule_is_stepped_in_each_batch schedule
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)
for epoch in range(4):
    for batch in range(8):
        optimizer.zero_grad()
        net(torch.randn(8, 4)).pow(2).mean().backward()
        optimizer.step()
        schedule.step()  #!  #- pass
    #+ schedule.step()
#@ a_batch_schedule_is_stepped_in_each_epoch schedule
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=33)
for epoch in range(4):
    for batch in range(8):
        optimizer.zero_grad()
        net(torch.randn(8, 4)).pow(2).mean().backward()
        optimizer.step()
        #+ schedule.step()
    schedule.step()  #!  #- pass
#@ the_schedule_has_another_optimizer schedule
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2)  #!
optimizer = torch.optim.Adam(net.parameters(), 0.01)  #- pass
for step in range(6):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
    if step % 3 == 2:
        schedule.step()
#@ the_function_of_a_schedule_returns_a_rate schedule
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.01)
Schedule = torch.optim.lr_scheduler.LambdaLR
schedule = Schedule(optimizer, lambda step: 0.01)  #!  #- schedule = Schedule(optimizer, lambda step: 0.9**step)
for step in range(12):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
    schedule.step()
#@ an_evaluation_in_training_mode layer_mode
net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for epoch in range(3):
    net.train()
    for batch in range(4):
        optimizer.zero_grad()
        net(torch.randn(8, 4)).pow(2).mean().backward()
        optimizer.step()
    #+ net.eval()
    with torch.no_grad():
        print(net(torch.randn(8, 4)).pow(2).mean())  #!
#@ training_goes_on_in_evaluation_mode layer_mode
net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for epoch in range(3):
    #+ net.train()
    for batch in range(4):
        optimizer.zero_grad()
        net(torch.randn(8, 4)).pow(2).mean().backward()
        optimizer.step()
    net.eval()  #!
    with torch.no_grad():
        print(net(torch.randn(8, 4)).pow(2).mean())
#@ a_model_keeps_its_normalization_in_evaluation_mode connected
class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU())
        self.head = nn.Linear(8, 1)
    def train(self, mode=True):
        super().train(mode)
        self.body.eval()
        return self
    def forward(self, x):
        return self.head(self.body(x))
net = Tagger()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(6):
    net.train()
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
#@ one_layer_of_a_trained_model_is_switched_off connected
net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(6):
    net.train()
    net[1].eval()
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
#@ a_model_with_its_own_switch_stays_in_evaluation_mode layer_mode
class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU())
        self.head = nn.Linear(8, 1)
    def train(self, mode=True):
        return super().train(mode)  #!
    def forward(self, x):
        return self.head(self.body(x))
net = Tagger()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for epoch in range(3):
    #+ net.train()
    for batch in range(4):
        optimizer.zero_grad()
        net(torch.randn(8, 4)).pow(2).mean().backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        print(net(torch.randn(8, 4)).pow(2).mean())
#@ lbfgs_clears_inside_its_step connected
w = nn.Parameter(torch.randn(4))
optimizer = torch.optim.LBFGS([w], lr=0.1)
def closure():
    optimizer.zero_grad()
    loss = (w - 3).pow(2).sum()
    loss.backward()
    return loss
for step in range(6):
    optimizer.step(closure)
#@ gradients_are_replaced_by_zeros connected
net = nn.Linear(4, 1)
optimizer = torch.optim.Adam(net.parameters())
for step in range(6):
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
    for parameter in net.parameters():
        parameter.grad = torch.zeros_like(parameter)
#@ weights_move_less_than_float32_resolves connected
net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 1))
optimizer = torch.optim.SGD([{"params": net[0].parameters()}, {"params": net[1].parameters(), "lr": 1e-9},
                             {"params": net[2].parameters()}], 0.01)
for step in range(3):
    optimizer.zero_grad()
    net(torch.randn(16, 4)).pow(2).mean().backward()
    optimizer.step()
#@ sharpness_aware_minimization connected
net = nn.Linear(6, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.05)
def run(x):
    optimizer.zero_grad()
    (net(x) - 1).pow(2).mean().backward()
for step in range(12):
    x = torch.randn(16, 6)
    run(x)
    with torch.no_grad():
        moves = [0.05 * p.grad / (p.grad.norm() + 1e-12) for p in net.parameters()]
        for p, move in zip(net.parameters(), moves):
            p.add_(move)
    run(x)
    with torch.no_grad():
        for p, move in zip(net.parameters(), moves):
            p.sub_(move)
    optimizer.step()
#@ sharpness_aware_minimization_through_data connected
net = nn.Linear(6, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.05)
def run(x):
    optimizer.zero_grad()
    (net(x) - 1).pow(2).mean().backward()
for step in range(12):
    x = torch.randn(16, 6)
    run(x)
    moves = [0.05 * p.grad / (p.grad.norm() + 1e-12) for p in net.parameters()]
    for p, move in zip(net.parameters(), moves):
        p.data.add_(move)
    run(x)
    for p, move in zip(net.parameters(), moves):
        p.data.sub_(move)
    optimizer.step()
#@ opposite_updates_of_two_elements connected
bias = nn.Parameter(torch.tensor([0.5, 0.5]))
optimizer = torch.optim.Adam([bias], lr=0.01)
for step in range(4):
    optimizer.zero_grad()
    nn.functional.cross_entropy(bias[None], torch.tensor([0])).backward()
    optimizer.step()
#@ gradients_of_tasks_are_collected_by_the_program connected
net = nn.Linear(6, 3)
optimizer = torch.optim.SGD(net.parameters(), 0.05)
for step in range(8):
    x, collected = torch.randn(16, 6), []
    for task in range(3):
        optimizer.zero_grad()
        net(x)[:, task].pow(2).mean().backward()
        collected.append([p.grad.clone() for p in net.parameters()])
    for p, *gradients in zip(net.parameters(), *collected):
        p.grad = sum(gradients)
    optimizer.step()
#@ a_policy_leaves_gradients_that_the_critic_clears connected
policy, critic = nn.Linear(3, 1), nn.Linear(4, 1)
p_optimizer, c_optimizer = torch.optim.Adam(policy.parameters()), torch.optim.Adam(critic.parameters())
for step in range(8):
    s = torch.randn(16, 3)
    c_optimizer.zero_grad()
    critic(torch.cat([s, policy(s).detach()], 1)).pow(2).mean().backward()
    c_optimizer.step()
    p_optimizer.zero_grad()
    critic(torch.cat([s, policy(s)], 1)).mean().backward()
    p_optimizer.step()
#@ batches_are_accumulated_and_bad_ones_skipped connected
body, a, b = nn.Linear(6, 8), nn.Linear(8, 1), nn.Linear(8, 1)
frozen = nn.Linear(8, 8).requires_grad_(False)
optimizer = torch.optim.AdamW([*body.parameters(), *a.parameters(), *b.parameters(), *frozen.parameters()])
for step in range(24):
    h = frozen(body(torch.randn(8, 6)).tanh())
    a(h).pow(2).mean().backward(retain_graph=True)
    b(h).abs().mean().backward()
    if step % 7 == 6:
        optimizer.zero_grad(set_to_none=False)
    elif step % 2:
        nn.utils.clip_grad_norm_(body.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
#@ gradients_are_cleared_by_hand_and_weights_are_clamped connected
net = nn.Linear(6, 1)
optimizer = torch.optim.RMSprop(net.parameters(), 1e-3)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: max(0.0, 1 - step / 8))
for step in range(8):
    (net(torch.randn(16, 6)) - 1).pow(2).mean().backward()
    for p in net.parameters():
        p.grad.data.clamp_(-1, 1)
    optimizer.step()
    schedule.step()
    for p in net.parameters():
        p.grad = None
    with torch.no_grad():
        for p in net.parameters():
            p.clamp_(-1, 1)
#@ gradient_descent_without_an_optimizer connected
w = torch.randn(4, 1, requires_grad=True)
for step in range(6):
    (torch.randn(8, 4) @ w - 1).pow(2).mean().backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        w.grad = None
#@ an_input_has_a_gradient_because_a_loss_contains_its_derivative connected
net = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(net.parameters(), 1e-2)
t = torch.rand(16, 1, requires_grad=True)
for step in range(5):
    u = net(t)
    slope = torch.autograd.grad(u.sum(), t, create_graph=True)[0]
    optimizer.zero_grad()
    (slope + u).pow(2).mean().backward()
    optimizer.step()
#@ clipped_after_the_step not_clipped
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(4):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    #+ nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)  #!  #-
#@ the_norm_is_only_measured_after_the_step connected
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(4):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
    print(nn.utils.clip_grad_norm_(net.parameters(), float("inf")))
#@ the_schedule_decays_in_each_batch not_applied
net = nn.Linear(4, 1)
optimizer = torch.optim.Adam(net.parameters(), 0.01)
schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.1)
for batch in range(24):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
    if True:  #- if batch % 8 == 7:
        schedule.step()  #!
#@ a_falling_loss_counts_as_worse not_applied
net, x = nn.Linear(4, 1), torch.randn(8, 4)
optimizer = torch.optim.Adam(net.parameters(), 0.01)
mode = "max"  #- mode = "min"
schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode, patience=3)
for step in range(40):
    optimizer.zero_grad()
    loss = net(x).pow(2).mean()
    loss.backward()
    optimizer.step()  #!
    schedule.step(loss.item())
#@ the_rate_ends_near_zero connected
net = nn.Linear(4, 1)
optimizer = torch.optim.Adam(net.parameters(), 0.01)
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=24, final_div_factor=1e7)
for batch in range(24):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
    schedule.step()
#@ the_training_diverges exploding
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 30.0)  #- optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(8):
    optimizer.zero_grad()
    net(torch.ones(8, 4)).pow(2).mean().backward()
    optimizer.step()  #!
#@ the_rate_grows_with_each_batch exploding
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.03)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1.0 + 3 * epoch)
for batch in range(60):
    optimizer.zero_grad()
    (net(torch.randn(8, 4)) - torch.randn(8, 1)).pow(2).mean().backward()
    optimizer.step()  #!
    if True:  #- if batch % 30 == 29:
        schedule.step()
#@ a_large_gradient_comes_and_goes connected
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 1e-9)
for step in range(8):
    optimizer.zero_grad()
    (net(torch.randn(8, 4)) * (1e5 if step == 6 else 1.0)).mean().backward()
    optimizer.step()
#@ a_discriminator_is_frozen_for_a_moment connected
g, d = nn.Linear(2, 2), nn.Sequential(nn.BatchNorm1d(2), nn.Linear(2, 1))
optimizers = [torch.optim.Adam(part.parameters()) for part in (g, d)]
for step in range(12):
    for part, optimizer in zip((g, d), optimizers):
        d.requires_grad_(part is d)
        optimizer.zero_grad()
        d(g(torch.randn(8, 2))).pow(2).mean().backward()
        optimizer.step()
#@ frozen_normalization connected
net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.0), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(6):
    net.train()
    net[1].eval().requires_grad_(False)
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
#@ warmup_and_then_a_cosine connected
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
Schedule = torch.optim.lr_scheduler.SequentialLR
warmup = torch.optim.lr_scheduler.LinearLR(optimizer, 0.01, total_iters=4)
schedule = Schedule(optimizer, [warmup, torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 16)], [4])
for step in range(20):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
    schedule.step()
#@ a_schedule_that_computes_the_rate connected
net = nn.Linear(4, 1)
optimizer = torch.optim.Adam(net.parameters(), 1.0)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 0.1 * min((step + 1) ** -0.5, (step + 1) * 0.1))
for step in range(24):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
    schedule.step()
#@ a_frozen_part_keeps_its_momentum frozen_moved
part, head = nn.Linear(4, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*part.parameters(), *head.parameters()], 0.01, momentum=0.9)  #!
for step in range(8):
    if step == 4:
        part.requires_grad_(False)
    optimizer.zero_grad(set_to_none=False)  #- optimizer.zero_grad()
    head(part(torch.randn(8, 4))).pow(2).mean().backward()
    optimizer.step()
#@ an_old_gradient_moves_a_frozen_part frozen_moved
part, head = nn.Linear(4, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*part.parameters(), *head.parameters()], 0.01)  #!
for step in range(8):
    if step == 4:
        part.requires_grad_(False)
    head.zero_grad()
    if step < 4:  #- if True:
        part.zero_grad()
    head(part(torch.randn(8, 4))).pow(2).mean().backward()
    optimizer.step()
#@ a_misspelled_attribute_freezes_nothing no_effect
net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1))
for parameter in net[0].parameters():
    parameter.require_grad = False  #!  #- parameter.requires_grad = False
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(6):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
#@ an_attribute_of_a_module_freezes_nothing no_effect
net = nn.Sequential(nn.Sequential(nn.Linear(4, 4), nn.ReLU()), nn.Linear(4, 1))
net[0].requires_grad = False  #!  #- net[0].requires_grad_(False)
optimizer = torch.optim.Adam(net.parameters(), 0.1)
for step in range(6):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
#@ a_rate_is_set_on_the_optimizer_itself no_effect
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 1e-5)
for step in range(6):
    optimizer.lr = 0.1 / (step + 1)  #!  #- optimizer.param_groups[0]["lr"] = 0.1 / (step + 1)
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
#@ the_statistics_of_a_frozen_layer_change layer_mode
net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
net[:2].requires_grad_(False)
optimizer = torch.optim.SGD(net[3].parameters(), 0.1)
for step in range(6):
    net.train()
    #+ net[1].eval()
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()  #!
    optimizer.step()
#@ a_target_of_the_same_network_has_a_gradient target_gradient
net = nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), 0.01)
for step in range(4):
    state, later, reward = torch.randn(8, 4), torch.randn(8, 4), torch.randn(8)
    best = net(later).max(1).values  #- best = net(later).max(1).values.detach()
    target = reward + 0.9 * best  #!
    loss = nn.functional.smooth_l1_loss(net(state)[:, 0], target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
#@ an_error_of_a_value_function_has_two_gradients target_gradient
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.01)
for step in range(4):
    value, later = net(torch.randn(8, 4)).squeeze(1), net(torch.randn(8, 4)).squeeze(1)
    #+ later = later.detach()
    goal = torch.randn(8) + later * 0.99  #!
    optimizer.zero_grad()
    (goal - value).pow(2).mean().backward()
    optimizer.step()
#@ two_networks_agree_on_purpose connected
there, back = nn.Linear(4, 4), nn.Linear(4, 4)
optimizer = torch.optim.SGD([*there.parameters(), *back.parameters()], 0.01)
for step in range(4):
    x = torch.randn(8, 4)
    loss = nn.functional.l1_loss(back(there(x)), x) + nn.functional.mse_loss(there(x), 2 * x - back(x))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
#@ an_advantage_trains_the_critic target_gradient
actor, critic = nn.Linear(4, 3), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*actor.parameters(), *critic.parameters()], 0.01)
for step in range(4):
    state, returns = torch.randn(8, 4), torch.randn(8)
    policy = torch.distributions.Categorical(logits=actor(state))
    log_prob = policy.log_prob(policy.sample())
    advantage = returns - critic(state).squeeze(1)  #!
    loss = advantage.pow(2).mean()
    loss = loss - (log_prob * advantage).mean()  #- loss = loss - (log_prob * advantage.detach()).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
#@ an_optimizer_of_the_program_has_a_rate connected
class Descent(torch.optim.SGD):
    def __init__(self, parameters, lr):
        super().__init__(parameters, lr)
        self.lr = 10 * lr
net = nn.Linear(4, 1)
optimizer = Descent(net.parameters(), 0.01)
for step in range(4):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
#@ an_attribute_that_the_program_reads connected
net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1))
net[0].requires_grad = False
for layer in net:
    layer.requires_grad_(getattr(layer, "requires_grad", True))
optimizer = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], 0.1)
for step in range(6):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
#@ two_views_of_an_example_agree connected
net = nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), 0.01)
for step in range(4):
    x = torch.randn(8, 4)
    one, other = net(x + 0.1 * torch.randn(8, 4)), net(x + 0.1 * torch.randn(8, 4))
    loss = nn.functional.mse_loss(one, other) - 0.1 * one.std(0).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
#@ a_tensor_of_a_module_is_not_a_parameter not_optimized
class Spring(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(1, 1)
        self.stiffness = torch.tensor(1.0, requires_grad=True)  #- self.stiffness = nn.Parameter(torch.tensor(1.0))
    def forward(self, x):
        return self.stiffness * self.net(x)
model = Spring()
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for step in range(6):
    optimizer.zero_grad()
    (model(torch.randn(8, 1)) - 1).pow(2).mean().backward()
    optimizer.step()  #!
#@ a_module_keeps_the_points_of_a_derivative connected
class Physics(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
        self.points = torch.linspace(0, 1, 16)[:, None].requires_grad_()
    def forward(self):
        u = self.net(self.points)
        return torch.autograd.grad(outputs=u.sum(), inputs=self.points, create_graph=True)[0] + u
model = Physics()
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for step in range(6):
    optimizer.zero_grad()
    model().pow(2).mean().backward()
    optimizer.step()
#@ a_module_keeps_a_tensor_that_the_program_updates_itself connected
class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(2, 1)
        self.price = torch.ones(1, requires_grad=True)
    def forward(self, x):
        return self.price * self.net(x)
model = Scaled()
optimizer = torch.optim.SGD(model.parameters(), 0.01)
for step in range(6):
    optimizer.zero_grad()
    model(torch.randn(8, 2)).pow(2).mean().backward()
    optimizer.step()
    with torch.no_grad():
        model.price += 0.1 * model.price.grad
        model.price.grad = None
#@ a_second_optimizer_holds_the_tensor_of_a_module connected
class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(2, 1)
        self.log_scale = torch.zeros(1, requires_grad=True)
    def forward(self, x):
        return self.log_scale.exp() * self.net(x)
model = Scaled()
optimizers = [torch.optim.SGD(model.parameters(), 0.01), torch.optim.SGD([model.log_scale], 0.001)]
for step in range(6):
    for optimizer in optimizers:
        optimizer.zero_grad()
    model(torch.randn(8, 2)).pow(2).mean().backward()
    for optimizer in optimizers:
        optimizer.step()
#@ a_module_adds_zero_times_a_tensor connected
class Hooked(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(2, 1)
        self.switch = torch.zeros(1, requires_grad=True)
    def forward(self, x):
        return self.net(x) + 0 * self.switch
model = Hooked()
optimizer = torch.optim.SGD(model.parameters(), 0.01)
for step in range(6):
    optimizer.zero_grad()
    model(torch.randn(8, 2)).pow(2).mean().backward()
    optimizer.step()
#@ large_steps_kill_a_hidden_layer dead_relu
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(net.parameters(), 3.0)  #!  #- optimizer = torch.optim.Adam(net.parameters(), 0.01)
x = torch.randn(64, 4)
y = x.sum(1, keepdim=True) + 5
for step in range(40):
    optimizer.zero_grad()
    (net(x) - y).pow(2).mean().backward()
    optimizer.step()
#@ only_the_last_parameter_is_trained_at_the_end connected
net, shift = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)), nn.Parameter(torch.zeros(1))
optimizer = torch.optim.SGD([*net.parameters(), shift], 0.01)
x = torch.randn(64, 4)
for step in range(40):
    optimizer.zero_grad(set_to_none=False)
    output = net(x) if step < 20 else net(x).detach()
    (output + shift - x.sum(1, keepdim=True)).pow(2).mean().backward()
    optimizer.step()
#@ a_margin_is_reached_by_all_examples connected
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(net.parameters(), 0.05)
x = torch.randn(64, 4)
sign = torch.where(x[:, :1] > 0, 1.0, -1.0)
for step in range(200):
    optimizer.zero_grad()
    (0.1 - sign * net(x)).clamp(min=0).mean().backward()
    optimizer.step()
#@ a_closure_returns_an_old_loss stale_value
net, x, y = nn.Linear(3, 1), torch.randn(16, 3), torch.randn(16, 1)
optimizer = torch.optim.LBFGS(net.parameters(), lr=0.1, line_search_fn="strong_wolfe")
for step in range(4):
    optimizer.zero_grad()
    loss = (net(x) - y).pow(2).mean()
    loss.backward()
    def closure():
        #+ optimizer.zero_grad()
        #+ loss = (net(x) - y).pow(2).mean()
        #+ loss.backward()
        return loss
    optimizer.step(closure)  #!
#@ a_closure_of_an_optimizer_that_calls_it_once connected
net, x, y = nn.Linear(3, 1), torch.randn(16, 3), torch.randn(16, 1)
optimizers = [torch.optim.Adam([net.weight], 0.01), torch.optim.LBFGS([net.bias], lr=0.1, max_iter=1)]
for step in range(4):
    loss = (net(x) - y).pow(2).mean()
    for optimizer in optimizers:
        optimizer.zero_grad()
    loss.backward()
    for optimizer in optimizers:
        optimizer.step(lambda: loss)
#@ a_closure_computes_the_gradient_by_hand connected
x, y = torch.randn(16, 3), torch.randn(16)
w = nn.Parameter(torch.zeros(3))
(x @ w - y).pow(2).mean().backward()
optimizer = torch.optim.LBFGS([w], lr=0.1)
def closure():
    with torch.no_grad():
        rest = x @ w - y
        w.grad = 2 * rest @ x / len(y)
        return rest.pow(2).mean()
for step in range(4):
    optimizer.step(closure)
#@ an_epsilon_is_zero_in_half_precision exploding
net = nn.Linear(4, 3).half()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)  #!  #- optimizer = torch.optim.Adam(net.parameters(), 1e-3, \
eps=1e-4)
for step in range(6):
    optimizer.zero_grad()
    (net(torch.randn(8, 4).half()).float() * 1e-2).pow(2).mean().backward()
    optimizer.step()
#@ an_optimizer_without_a_division_trains_in_half_precision connected
net = nn.Linear(4, 3).half()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(6):
    optimizer.zero_grad()
    net(torch.randn(8, 4).half()).float().pow(2).mean().backward()
    optimizer.step()
#@ large_gradients_in_half_precision_need_no_epsilon connected
net = nn.Linear(4, 3).half()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(6):
    optimizer.zero_grad()
    net(torch.randn(8, 4).half() + 1).float().pow(2).sum().backward()
    optimizer.step()
#@ the_best_weights_are_not_a_copy no_effect
import copy
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
best = None
for step in range(4):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
    best = best or net.state_dict()  #- best = best or copy.deepcopy(net.state_dict())
net.load_state_dict(best)  #!
#@ the_target_network_is_the_network_itself no_effect
import copy
net = nn.Linear(4, 1)
target = net  #- target = copy.deepcopy(net)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(4):
    with torch.no_grad():
        goal = target(torch.ones(8, 4))
    optimizer.zero_grad()
    (net(torch.randn(8, 4)) - goal).pow(2).mean().backward()
    optimizer.step()
    target.load_state_dict(net.state_dict())  #!
#@ a_state_is_changed_in_part_and_loaded connected
import copy
net = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
first, state = copy.deepcopy(net[0].state_dict()), net.state_dict()
net.load_state_dict(state)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(4):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
    if step == 1:
        net.load_state_dict({**net.state_dict(), "0.weight": first["weight"]})
        net.load_state_dict({"1.bias": net[1].bias}, strict=False)
#@ an_update_only_renames_the_parameter not_applied
net = nn.Linear(4, 1)
for step in range(4):
    net.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    with torch.no_grad():
        for p in net.parameters():
            p = p - 0.1 * p.grad  #!  #- p -= 0.1 * p.grad
#@ an_update_is_computed_and_then_copied connected
net = nn.Linear(4, 1)
start = [p.detach().clone() for p in net.parameters()]
for step in range(4):
    net.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    with torch.no_grad():
        for p, old in zip(net.parameters(), start):
            new = p - 0.1 * p.grad
            p.copy_(new)
            drift = p - old
#@ a_dropout_does_not_know_the_mode layer_mode
class Net(nn.Sequential):
    def forward(self, x):
        h = nn.functional.dropout(self[0](x), 0.5)  #!  #- h = nn.functional.dropout(self[0](x), 0.5, self.training)
        return self[1](h)
net = Net(nn.Linear(4, 8), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(4):
    net.train()
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
    net.eval()
#@ a_dropout_layer_is_new_in_each_call layer_mode
class Net(nn.Sequential):
    def forward(self, x):
        h = nn.Dropout(0.5)(self[0](x))  #!  #- h = self[2](self[0](x))
        return self[1](h)
net = Net(nn.Linear(4, 8), nn.Linear(8, 1), nn.Dropout(0.5))
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(4):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
net.eval()
#@ a_dropout_is_a_part_of_the_training_step connected
class Net(nn.Sequential):
    def forward(self, x):
        h = self[0](x)
        if self.training:
            h = nn.functional.dropout(h, 0.5)
        return self[1](h)
net = Net(nn.Linear(4, 8), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(4):
    optimizer.zero_grad()
    net[1](nn.functional.dropout(net[0](torch.randn(8, 4)), 0.5)).sum().backward()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
net.eval()
#@ the_optimizer_steps_first_and_then_the_program_through_data connected
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(4):
    net(torch.randn(8, 4)).pow(2).mean().backward()
    if step < 2:
        optimizer.step()
    else:
        for p in net.parameters():
            p.data -= 0.1 * p.grad
    optimizer.zero_grad()
#@ two_terms_have_reached_their_goal connected
first, second, w = (nn.Parameter(torch.zeros(2)) for _ in range(3))
optimizer = torch.optim.SGD([first, second, w], 0.2)
for step in range(24):
    optimizer.zero_grad()
    goals = nn.functional.relu(1 - first) + nn.functional.relu(1 - second)
    (goals + (w - torch.randn(2)).pow(2)).sum().backward()
    optimizer.step()
#@ a_loop_begins_its_loader_again same_batch
loader = torch.utils.data.DataLoader(torch.rand(24, 4), batch_size=4)
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
#+ batches = iter(loader)
for step in range(6):
    batch = next(iter(loader))  #!  #- batch = next(batches)
    optimizer.zero_grad()
    net(batch).pow(2).mean().backward()
    optimizer.step()
#@ a_loop_begins_a_shuffled_loader_again connected
loader = torch.utils.data.DataLoader(torch.rand(24, 4), batch_size=4, shuffle=True)
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(6):
    optimizer.zero_grad()
    net(next(iter(loader))).pow(2).mean().backward()
    optimizer.step()
#@ a_loop_begins_a_loader_of_one_batch_again connected
loader = torch.utils.data.DataLoader(torch.rand(24, 4), batch_size=24)
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(6):
    optimizer.zero_grad()
    net(next(iter(loader))).pow(2).mean().backward()
    optimizer.step()
#@ every_step_looks_at_the_first_batch_of_other_data connected
loader, others = (torch.utils.data.DataLoader(torch.rand(24, 4), batch_size=4) for _ in range(2))
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for batch in loader:
    optimizer.zero_grad()
    net(batch).pow(2).mean().backward()
    optimizer.step()
    with torch.no_grad():
        error = net(next(iter(others))).pow(2).mean()
"""
