"""Words that people type to find a guide and that the guide itself does not say. Questions have theirs in a comment."""

SEARCH_WORDS = {
    "docs/explain.md": {
        "en": "debug gradients missing None zero NaN wrong why",
        "zh": "调试 梯度 缺失 不对 排查 原因",
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
        "en": "install without installing run lessons online colab vs code vscode docker container windows browser "
        "offline",
        "zh": "安装 不安装 不用安装 在线 浏览器 离线 手机",
    },
    "deploy/TEACHERS.md": {
        "en": "teacher write lesson exercise hints own course students",
        "zh": "老师 写课 练习 提示",
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
    "docs/bridges.md": {
        "en": "pytorch tensorflow jax framework record use with",
        "zh": "pytorch tensorflow jax 框架",
    },
    "docs/causes/accumulated.md": {
        "en": "zero_grad forgotten gradients add up accumulate batches",
        "zh": "忘了 zero_grad 梯度累加 累积",
    },
    "docs/causes/activation_twice.md": {
        "en": "softmax before CrossEntropyLoss sigmoid BCEWithLogits from_logits twice",
        "zh": "softmax 两次 交叉熵 from_logits 激活",
    },
    "docs/causes/backward_twice.md": {
        "en": "RuntimeError backward through the graph a second time retain_graph",
        "zh": "第二次 backward 报错 retain_graph 反向传播两次",
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
    "docs/causes/create_graph.md": {
        "en": "gradient penalty second derivative torch.autograd.grad create_graph pinn",
        "zh": "梯度惩罚 二阶导 create_graph",
    },
    "docs/causes/dead_relu.md": {
        "en": "dead neurons dying relu units output zero",
        "zh": "神经元死亡 死神经元 relu 全是零",
    },
    "docs/causes/detach.md": {
        "en": "detach hidden state graph lost no gradient",
        "zh": "detach 截断 没有梯度",
    },
    "docs/causes/exploding.md": {
        "en": "exploding gradients diverge loss blows up increases learning rate too high clip",
        "zh": "梯度爆炸 发散 loss 越来越大 学习率太大 裁剪",
    },
    "docs/causes/in_place.md": {
        "en": "RuntimeError modified by an inplace operation version",
        "zh": "原地修改 inplace 报错",
    },
    "docs/causes/integer_cast.md": {
        "en": "round long int astype gradient",
        "zh": "取整 转成整数 没有梯度",
    },
    "docs/causes/leaked_tracer.md": {
        "en": "UnexpectedTracerError side effect tracer leak",
        "zh": "tracer 泄漏 副作用",
    },
    "docs/causes/leftover.md": {
        "en": "gan discriminator generator gradients mixed two networks zero_grad",
        "zh": "两个网络 一起训练 梯度串了 gan 生成器 判别器",
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
    "docs/causes/no_derivative.md": {
        "en": "argmax round step function not differentiable",
        "zh": "argmax 不可导 取整",
    },
    "docs/causes/no_grad.md": {
        "en": "torch.no_grad does not require grad evaluation",
        "zh": "no_grad 不求导 评估",
    },
    "docs/causes/non_leaf.md": {
        "en": "grad of intermediate tensor not a leaf retain_grad warning",
        "zh": "中间变量的梯度 不是叶子 grad 是 None",
    },
    "docs/causes/not_applied.md": {
        "en": "weights do not change not updating parameters stay the same during training optimizer step",
        "zh": "权重不更新 参数不变 一直不更新 优化器 没有更新",
    },
    "docs/causes/not_optimized.md": {
        "en": "parameters not in optimizer missing layer list does not train weights do not change",
        "zh": "参数不在优化器里 权重不更新 列表 层",
    },
    "docs/causes/not_selected.md": {
        "en": "embedding rows gather max pooling indexedslices zero gradient",
        "zh": "嵌入 索引 没被选中 梯度是零",
    },
    "docs/causes/not_trainable.md": {
        "en": "trainable False frozen layer keras no gradient",
        "zh": "trainable=False 冻结的层 没有梯度",
    },
    "docs/causes/requires_grad.md": {
        "en": "does not require grad no grad_fn leaf tensor frozen",
        "zh": "不需要梯度 grad_fn requires_grad",
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
    "docs/causes/unused.md": {
        "en": "layer never used grad None unused parameters ddp",
        "zh": "没有用到 grad 是 None 未使用的参数",
    },
    "docs/causes/vanishing.md": {
        "en": "vanishing gradients deep network rnn first layers do not learn lstm stop learning after many time steps",
        "zh": "梯度消失 深层网络 循环网络 前几层 学不到",
    },
}
"""The words by page and language."""
