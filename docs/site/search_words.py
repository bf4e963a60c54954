"""Provide words that people type to find a page, but that the page itself does not contain.

A question page has its words in a comment. ``phrasings.toml`` has whole questions for each page.
"""

import tomllib
from pathlib import Path

PHRASINGS_BY_PAGE = tomllib.loads(Path(__file__).with_name("phrasings.toml").read_text(encoding="utf-8"))
"""Other ways to ask what a page answers, by the page's name without ".md" and by language."""
SEARCH_WORDS = {
    "README.md": {
        "en": "install installation setup pip download clone get started requirements python version windows mac linux",
        "zh": "安装 下载 克隆 镜像 装不上 开始 入门 版本",
    },
    "docs/explain.md": {
        "en": "debug gradients missing None zero NaN wrong why incorrect not flowing disconnected broken graph model "
        "weights",
        "zh": "调试 梯度 缺失 不对 不正确 传不回去 反向传播 排查 原因 有问题",
    },
    "docs/explain_model.md": {
        "en": "model does not train learn converge loss stuck parameters without gradient",
        "zh": "模型 不收敛 不训练 损失 不下降 参数 没有梯度 loss",
    },
    "docs/explain_program.md": {
        "en": "training script run command line train.py loss not falling becomes nan after many steps hundred epochs",
        "zh": "训练 脚本 命令行 运行 损失 不下降 不收敛 训练很多步之后 loss 变成 nan",
    },
    "docs/explain_loop.md": {
        "en": "training loop record every step keras callback lightning trainer fit",
        "zh": "训练循环 每一步 记录 回调 keras lightning fit",
    },
    "docs/explorables.md": {
        "en": "embed picture web page blog website html javascript slides",
        "zh": "网页 博客 嵌入 图 网站 html",
    },
    "docs/tapeview_saving.md": {
        "en": "save export picture pdf png svg gif paper latex image",
        "zh": "保存 导出 图片 论文 latex pdf png svg",
    },
    "docs/film.md": {
        "en": "film video animation movie gif webm mp4 manim beamer slides storyboard record explain backpropagation",
        "zh": "影片 视频 动画 动图 录制 脚本 manim 幻灯片 动画视频 展示 反向传播",
    },
    "docs/model_map.md": {
        "en": "map model treemap icicle gradient norm flow layers modules parameters training steps atlas tensorboard",
        "zh": "地图 模型 梯度 范数 层 模块 参数 训练",
    },
    "docs/tapeview_large.md": {
        "en": "many rows large model slow picture fold zoom",
        "zh": "很多行 大模型 太大 折叠 缩放",
    },
    "docs/elsewhere.md": {
        "en": "without installing run lessons online colab vs code vscode docker container windows browser offline",
        "zh": "不安装 不用安装 免安装 在线 浏览器 离线 手机",
    },
    "deploy/TEACHERS.md": {
        "en": "teacher write lesson exercise hints own course students class report hand in",
        "zh": "老师 写课 练习 提示 学生 班级 交作业 批改 作业 成绩 上课 教学",
    },
    "docs/exercises.md": {
        "en": "exercise check answer wrong answers mistakes hints own lesson",
        "zh": "练习 检查 答案 错误答案 提示",
    },
    "deploy/jupyterhub/TEACHERS.md": {
        "en": "class server students sign in grade grading nbgrader hand in homework",
        "zh": "班级 服务器 评分 打分 批改 学生 作业 交作业",
    },
    "docs/gallery.md": {
        "en": "examples pictures programs overview",
        "zh": "例子 示例 图 程序",
    },
    "docs/how_often_right.md": {
        "en": "accuracy how accurate reliable correct percent figures evaluation false alarms missed",
        "zh": "准确率 有多准 误报 漏报 评测",
    },
    "docs/bridges.md": {
        "en": "pytorch tensorflow jax framework record use with",
        "zh": "pytorch tensorflow jax 框架",
    },
    "docs/tapeview.md": {
        "en": "picture of a tape visualize draw backpropagation computation graph notebook jupyter widget step "
        "debugger",
        "zh": "图 可视化 画出来 反向传播 计算图 笔记本 单步 调试",
    },
    "docs/tapeview_reading.md": {
        "en": "read understand picture boxes arrows colors numbers meaning legend",
        "zh": "怎么看图 图怎么读 颜色 箭头 方框 什么意思 图例",
    },
    "docs/tapeview_explore.md": {
        "en": "what if change value slider drag quiz guess path interactive",
        "zh": "拖动 改值 滑块 猜 互动 路径",
    },
    "docs/tapeview_keys.md": {
        "en": "keyboard shortcuts keys mouse zoom pan",
        "zh": "快捷键 键盘 按键 鼠标 缩放",
    },
    "docs/explain_answers.md": {
        "en": "fields of an explanation cause kind line message fix patch others attributes",
        "zh": "解释的字段 cause kind line fix patch 属性",
    },
    "docs/causes.md": {
        "en": "list table of all causes error messages error codes index",
        "zh": "所有原因 列表 错误信息 错误代码 总表",
    },
    "docs/explain_inside.md": {
        "en": "how explain works internals checks search path algorithm",
        "zh": "explain 原理 内部 怎么实现",
    },
    "docs/add_a_cause.md": {
        "en": "contribute new cause check record extend",
        "zh": "添加原因 新的原因 贡献",
    },
    "docs/write_a_bridge.md": {
        "en": "support another framework own bridge adapter mxnet paddle",
        "zh": "支持别的框架 写桥 适配 paddle",
    },
    "docs/engine.md": {
        "en": "how the tape engine works implementation source code autodiff internals record",
        "zh": "引擎 原理 实现 源码 自动微分 内部",
    },
    "docs/engine_gradient.md": {
        "en": "backward sweep implementation reverse mode adjoints order",
        "zh": "反向 扫描 实现 反向模式 伴随",
    },
    "docs/engine_calls.md": {
        "en": "call trace walkthrough functions called",
        "zh": "调用 过程",
    },
    "docs/engine_more.md": {
        "en": "jacobian forward mode higher order broadcasting implementation",
        "zh": "雅可比 前向模式 高阶 实现",
    },
    "docs/engine_speed.md": {
        "en": "performance numba compile fast kernels",
        "zh": "性能 加速 numba 编译",
    },
    "docs/functions.md": {
        "en": "tf.function tracing trace graph autograph retracing implementation",
        "zh": "tf.function 跟踪 图 实现",
    },
    "docs/lessons.md": {
        "en": "write own lesson notebook source authoring format",
        "zh": "写课 课程 源文件 格式",
    },
    "docs/snapshot.md": {
        "en": "snapshot json format schema fields export data",
        "zh": "快照 json 格式 字段",
    },
    "docs/vocabulary.md": {
        "en": "glossary terms definitions meaning of words",
        "zh": "术语 词汇 定义",
    },
    "docs/names.md": {
        "en": "list of supported functions which tensorflow names exist missing coverage api",
        "zh": "支持哪些函数 名字 有没有 api 缺少",
    },
    "docs/speed.md": {
        "en": "benchmark performance overhead comparison slow fast timing",
        "zh": "速度 性能 多快 慢 开销 对比",
    },
    "docs/trust.md": {
        "en": "guarantees accuracy reliable limits correct exact tested",
        "zh": "可靠 准确 保证 精度 测试",
    },
    "docs/trust_tests.md": {
        "en": "test suite fault injection fuzzing hypothesis",
        "zh": "测试 模糊测试 故障",
    },
    "docs/causes/accumulated.md": {
        "en": "zero_grad forgotten gradients add up accumulate batches",
        "zh": "忘了 zero_grad 梯度累加 累积",
    },
    "docs/causes/activation_twice.md": {
        "en": "softmax before CrossEntropyLoss sigmoid BCEWithLogits from_logits twice",
        "zh": "softmax 两次 交叉熵 from_logits 激活",
    },
    "docs/causes/argnums.md": {
        "en": "jax.grad argnums wrong argument zero gradient with respect to second argument params not first",
        "zh": "jax.grad argnums 第几个参数 求错参数 对第二个参数求导",
    },
    "docs/causes/backward_twice.md": {
        "en": "RuntimeError backward through the graph a second time retain_graph",
        "zh": "第二次 backward 报错 retain_graph 反向传播两次",
    },
    "docs/causes/boolean_index.md": {
        "en": "boolean mask indexing jit NonConcreteBooleanIndexError x[x > 0] dynamic shape where",
        "zh": "布尔索引 掩码 jit 里面 x[x > 0] 报错",
    },
    "docs/causes/branch.md": {
        "en": "TracerBoolConversionError if on traced value condition",
        "zh": "jit 里面用 if 条件 报错",
    },
    "docs/causes/broadcast.md": {
        "en": "shape mismatch (N,1) (N,) loss does not decrease predicts the mean",
        "zh": "形状不一致 广播 loss 不下降 预测都一样",
    },
    "docs/causes/callback.md": {
        "en": "pure_callback host python derivative",
        "zh": "回调 宿主 python",
    },
    "docs/causes/clipped_scaled.md": {
        "en": "mixed precision clip grad norm GradScaler unscale amp",
        "zh": "混合精度 梯度裁剪",
    },
    "docs/causes/closure.md": {
        "en": "closure global array captured constant jax.grad zero none parameters outside function",
        "zh": "闭包 外面的变量 全局 参数 没有传进去",
    },
    "docs/causes/computed_after_tape.md": {
        "en": "loss computed outside with block after GradientTape None indentation",
        "zh": "损失写在 with 外面 缩进 磁带之后 None",
    },
    "docs/causes/computed_before_tape.md": {
        "en": "forward pass before GradientTape with block model called outside None",
        "zh": "前向 写在 with 前面 模型在外面调用 None",
    },
    "docs/causes/copied.md": {
        "en": "torch.tensor(x) copy construct new tensor clone warning lost graph",
        "zh": "torch.tensor 重新创建 复制 张量 梯度断了",
    },
    "docs/causes/create_graph.md": {
        "en": "gradient penalty second derivative torch.autograd.grad create_graph pinn",
        "zh": "梯度惩罚 二阶导 create_graph",
    },
    "docs/causes/custom_rule.md": {
        "en": "custom_vjp custom_jvp custom_gradient wrong rule returns zero None autograd.Function",
        "zh": "自定义求导规则 custom_vjp 返回零 写错",
    },
    "docs/causes/data.md": {
        "en": "tensor.data weight.data no gradient bypass autograd",
        "zh": ".data 取值 没有梯度",
    },
    "docs/causes/dead_relu.md": {
        "en": "dead neurons dying relu units output zero",
        "zh": "神经元死亡 死神经元 relu 全是零",
    },
    "docs/causes/detach.md": {
        "en": "detach hidden state graph lost no gradient",
        "zh": "detach 截断 没有梯度",
    },
    "docs/causes/discarded.md": {
        "en": "zero_grad after backward before step wrong order gradients cleared",
        "zh": "zero_grad 顺序 放错 backward 之后清零 位置",
    },
    "docs/causes/exploding.md": {
        "en": "exploding gradients diverge loss blows up increases learning rate too high clip",
        "zh": "梯度爆炸 发散 loss 越来越大 学习率太大 裁剪",
    },
    "docs/causes/frozen_moved.md": {
        "en": "freeze froze frozen layers weights still change, still train, still update, anyway",
        "zh": "冻结 冻结了 层 权重 参数 还在变 还在训练 仍然更新",
    },
    "docs/causes/grad_cleared.md": {
        "en": "grad set to None cleared zero_grad gradient gone print after step",
        "zh": "梯度被清空 grad 清零 之后打印 None",
    },
    "docs/causes/grad_off.md": {
        "en": "torch.set_grad_enabled False global switched off never back on requires_grad false everywhere",
        "zh": "set_grad_enabled 关掉梯度 全局 忘了打开",
    },
    "docs/causes/grad_returned.md": {
        "en": "torch.autograd.grad .grad None does not store accumulate",
        "zh": "torch.autograd.grad 返回 .grad 还是 None",
    },
    "docs/causes/has_aux.md": {
        "en": "jax.value_and_grad has_aux tuple returned loss and metrics auxiliary output",
        "zh": "jax has_aux 返回元组 损失和指标 多个返回值",
    },
    "docs/causes/hook.md": {
        "en": "register_hook backward hook modifies gradient zero",
        "zh": "钩子 register_hook 修改梯度",
    },
    "docs/causes/in_part.md": {
        "en": "part of loss term no gradient regularization penalty detached ignored",
        "zh": "损失的一项 没有梯度 正则项 不起作用",
    },
    "docs/causes/in_place.md": {
        "en": "RuntimeError modified by an inplace operation version",
        "zh": "原地修改 inplace 报错",
    },
    "docs/causes/independent.md": {
        "en": "not connected unconnected target does not depend on source None unused",
        "zh": "不相关 没有用到 无关 None",
    },
    "docs/causes/inference_mode.md": {
        "en": "torch.inference_mode inference tensors cannot be saved for backward",
        "zh": "inference_mode 推理模式 报错",
    },
    "docs/causes/integer_cast.md": {
        "en": "round long int astype gradient",
        "zh": "取整 转成整数 没有梯度",
    },
    "docs/causes/integer_dtype.md": {
        "en": "integer variable int32 int64 dtype gradient None must be floating long tensor Only Tensors of "
        "floating point can require gradients",
        "zh": "整数 int 类型 整型变量 梯度 None 浮点",
    },
    "docs/causes/leaked_tracer.md": {
        "en": "UnexpectedTracerError side effect tracer leak",
        "zh": "tracer 泄漏 副作用",
    },
    "docs/causes/left_jax.md": {
        "en": "ConcretizationTypeError TracerArrayConversionError numpy float inside jit",
        "zh": "jit 里面用 numpy tracer 报错",
    },
    "docs/causes/left_through_numpy.md": {
        "en": "numpy model.predict float tolist no gradient None tf",
        "zh": "numpy 转换 predict 没有梯度 取出数值",
    },
    "docs/causes/left_torch.md": {
        "en": "item numpy tolist float loss detached",
        "zh": "item numpy 转换 没有梯度 取出数值",
    },
    "docs/causes/leftover.md": {
        "en": "gan discriminator generator gradients mixed two networks zero_grad",
        "zh": "两个网络 一起训练 梯度串了 gan 生成器 判别器",
    },
    "docs/causes/nan_backward.md": {
        "en": "sqrt norm log division zero gradient nan where",
        "zh": "sqrt 开方 除以零 梯度 nan 范数 开方之后",
    },
    "docs/causes/nan_forward.md": {
        "en": "loss nan log of zero exp overflow softmax",
        "zh": "loss 是 nan 对数 溢出",
    },
    "docs/causes/nan_input.md": {
        "en": "nan in the data dataset missing values",
        "zh": "数据里有 nan 缺失值",
    },
    "docs/causes/no_backward.md": {
        "en": "forgot loss.backward() never called grad None",
        "zh": "忘了调用 backward 没有反向传播",
    },
    "docs/causes/no_derivative.md": {
        "en": "argmax round step function not differentiable",
        "zh": "argmax 不可导 取整",
    },
    "docs/causes/no_grad.md": {
        "en": "torch.no_grad does not require grad evaluation",
        "zh": "no_grad 不求导 评估",
    },
    "docs/causes/no_gradient.md": {
        "en": "autograd.Function backward returns None returned an incorrect number of gradients expected got",
        "zh": "autograd.Function backward 返回 None",
    },
    "docs/causes/no_gradient_registered.md": {
        "en": "LookupError No gradient defined for operation op type gradient registry",
        "zh": "LookupError 没有注册梯度 运算 没有定义",
    },
    "docs/causes/non_leaf.md": {
        "en": "grad of intermediate tensor not a leaf retain_grad warning",
        "zh": "中间变量的梯度 不是叶子 grad 是 None",
    },
    "docs/causes/nondifferentiable.md": {
        "en": "argmax round sign floor cast not differentiable operation None tensorflow no gradient",
        "zh": "argmax round 不可微 不可导 取整 没有梯度",
    },
    "docs/causes/nondifferentiable_op.md": {
        "en": "argmax round floor not differentiable tape None",
        "zh": "argmax 不可微 不可导 None",
    },
    "docs/causes/nonfinite_value.md": {
        "en": "first NaN inf during training run which step where does nan come from detect find",
        "zh": "训练中 第一个 NaN 哪一步 从哪里来 检测 定位",
    },
    "docs/causes/not_accessed_watched.md": {
        "en": "watch_accessed_variables=False variable not watched None",
        "zh": "watch_accessed_variables=False 变量没有监视 None",
    },
    "docs/causes/not_applied.md": {
        "en": "weights do not change not updating parameters stay the same during training optimizer step",
        "zh": "权重不更新 参数不变 一直不更新 优化器 没有更新",
    },
    "docs/causes/not_clipped.md": {
        "en": "clip_grad_norm_ no effect gradients not clipped generator model.parameters() empty",
        "zh": "梯度裁剪 没有效果 不起作用 clip_grad_norm_",
    },
    "docs/causes/not_optimized.md": {
        "en": "parameters not in optimizer missing layer list does not train weights do not change",
        "zh": "参数不在优化器里 权重不更新 列表 层",
    },
    "docs/causes/not_scalar.md": {
        "en": "grad can be implicitly created only for scalar outputs loss vector not scalar mean sum backward",
        "zh": "标量 损失是向量 不是标量 backward 报错 求和",
    },
    "docs/causes/not_selected.md": {
        "en": "embedding rows gather max pooling indexedslices zero gradient",
        "zh": "嵌入 索引 没被选中 梯度是零",
    },
    "docs/causes/not_tensor.md": {
        "en": "float object has no attribute backward item loss number",
        "zh": "float 没有 backward 损失成了数 item",
    },
    "docs/causes/not_trainable.md": {
        "en": "trainable False frozen layer keras no gradient",
        "zh": "trainable=False 冻结的层 没有梯度",
    },
    "docs/causes/not_watched.md": {
        "en": "constant tensor not watched tape.watch forgot None input",
        "zh": "常量 没有监视 忘了 tape.watch None 输入",
    },
    "docs/causes/optimizer_remade.md": {
        "en": "new optimizer every step created in loop momentum adam state reset lost",
        "zh": "优化器 循环里创建 每一步 重新创建 动量 丢失 adam 状态",
    },
    "docs/causes/other_branch.md": {
        "en": "cond where lax.cond branch not taken zero gradient argument unused",
        "zh": "cond 分支 没走 梯度是零 参数没用到",
    },
    "docs/causes/outside_tape.md": {
        "en": "operation outside with block tape None",
        "zh": "with 外面 磁带之外 None",
    },
    "docs/causes/python_branch.md": {
        "en": "python if float condition read value tape branch none",
        "zh": "if 条件 python 判断 读取值 None",
    },
    "docs/causes/rebound.md": {
        "en": "variable overwritten reassigned w = w - lr * grad becomes tensor None second step",
        "zh": "变量被覆盖 重新赋值 w = w - lr 变成张量 第二步",
    },
    "docs/causes/recording_paused.md": {
        "en": "tape.stop_recording paused None",
        "zh": "stop_recording 暂停 录制 None",
    },
    "docs/causes/refused.md": {
        "en": "jax TypeError grad requires real inputs item assignment at set not a valid jax type immutable",
        "zh": "jax 报错 不能赋值 .at set 不可变 类型错误",
    },
    "docs/causes/requires_grad.md": {
        "en": "does not require grad no grad_fn leaf tensor frozen",
        "zh": "不需要梯度 grad_fn requires_grad",
    },
    "docs/causes/rounding_only.md": {
        "en": "tiny gradient 1e-9 noise should be zero bias before batchnorm softmax shift",
        "zh": "极小的梯度 1e-9 噪声 舍入误差",
    },
    "docs/causes/sampled.md": {
        "en": "vae reparameterization trick sample rsample distribution",
        "zh": "重参数化 采样 vae rsample",
    },
    "docs/causes/saturated.md": {
        "en": "sigmoid saturation saturated softmax logits gradient zero flat",
        "zh": "饱和 梯度消失 sigmoid 平",
    },
    "docs/causes/scaler.md": {
        "en": "mixed precision amp GradScaler loss scale update fp16",
        "zh": "混合精度 缩放 amp",
    },
    "docs/causes/stale_value.md": {
        "en": "jit ignores changed global variable uses old value cached traced once",
        "zh": "全局变量 改了没有用 旧的值 缓存",
    },
    "docs/causes/state.md": {
        "en": "assign assign_add variable state gradient None",
        "zh": "assign 变量 状态 梯度 None",
    },
    "docs/causes/stop_gradient.md": {
        "en": "tf.stop_gradient lax.stop_gradient blocks gradient None zero",
        "zh": "stop_gradient 挡住 梯度 None 零",
    },
    "docs/causes/target_not_tensor.md": {
        "en": "float object has no attribute dtype loss is python number numpy tape.gradient",
        "zh": "float 没有 dtype 损失是数 numpy",
    },
    "docs/causes/unknown.md": {
        "en": "unknown cause lost inside function call c++ extension",
        "zh": "原因不明 函数调用里面",
    },
    "docs/causes/unused.md": {
        "en": "layer never used grad None unused parameters ddp",
        "zh": "没有用到 grad 是 None 未使用的参数",
    },
    "docs/causes/unused_layer.md": {
        "en": "Gradients do not exist for variables when minimizing the loss keras layer not called unused",
        "zh": "Gradients do not exist for variables keras 层 没有调用 没用到 警告",
    },
    "docs/causes/vanishing.md": {
        "en": "vanishing gradients deep network rnn first layers do not learn lstm stop learning after many time steps",
        "zh": "梯度消失 深层网络 循环网络 前几层 学不到",
    },
    "docs/causes/variable_assign.md": {
        "en": "assign inside tape variable update gradient lost None keras",
        "zh": "assign 磁带里面 更新变量 梯度 丢了",
    },
    "docs/causes/watched_late.md": {
        "en": "tape.watch after use too late order None",
        "zh": "tape.watch 写晚了 顺序 用过以后 None",
    },
    "docs/causes/while_loop.md": {
        "en": "Reverse-mode differentiation does not work for lax.while_loop fori_loop scan dynamic",
        "zh": "while_loop fori_loop 反向 求导 报错 scan",
    },
    "docs/causes/wrong_object.md": {
        "en": "different variable copy of model other object target source None",
        "zh": "另一个对象 复制 模型副本 不是同一个变量",
    },
    "docs/causes/zero_cancels.md": {
        "en": "x - x x / x cancels constant result does not depend zero gradient normalization",
        "zh": "抵消 x - x 梯度是零 归一化",
    },
    "docs/causes/zero_derivative.md": {
        "en": "sign round floor step function zero gradient accuracy metric as loss",
        "zh": "sign round 阶梯函数 梯度是零 准确率 当损失",
    },
    "docs/causes/zero_factor.md": {
        "en": "multiplied by zero weight mask zero gradient initialization zeros",
        "zh": "乘以零 掩码 初始化为零 梯度是零",
    },
    "docs/causes/zero_seed.md": {
        "en": "backward(gradient=zeros) output_gradients grad_outputs zero",
        "zh": "output_gradients 零 backward 参数",
    },
    "docs/causes/zero_sum.md": {
        "en": "contributions cancel sum zero gradient symmetric softmax",
        "zh": "抵消 加起来是零 对称 softmax 求和",
    },
}
"""The words by page and language."""


def get_search_words(page: str, language_code: str) -> str:
    """Return the search terms of a page, or "". Terms in other languages come with the English names of functions."""
    words = SEARCH_WORDS.get(page, {})
    return " ".join(dict.fromkeys([words.get(language_code, ""), words.get("en", "")])).strip()


def get_phrasings(page: str, language_code: str) -> list[str]:
    """Return the other ways to ask what a page answers, in the words of people who search for it."""
    return PHRASINGS_BY_PAGE.get(page.removesuffix(".md"), {}).get(language_code, [])
