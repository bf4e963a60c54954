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
        "en": "training script run command line train.py loss not decreasing",
        "zh": "训练 脚本 命令行 运行 损失 不下降 不收敛",
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
        "en": "film video animation movie gif webm mp4 manim beamer slides storyboard record",
        "zh": "影片 视频 动画 动图 录制 脚本 manim 幻灯片",
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
        "en": "install colab vs code vscode docker container windows browser offline",
        "zh": "安装 浏览器 离线",
    },
    "deploy/TEACHERS.md": {
        "en": "teacher write lesson exercise hints own course students",
        "zh": "老师 写课 练习 提示",
    },
    "deploy/jupyterhub/TEACHERS.md": {
        "en": "class server students sign in grade nbgrader hand in",
        "zh": "班级 服务器 评分 作业",
    },
    "docs/gallery.md": {
        "en": "examples pictures programs overview",
        "zh": "例子 示例 图 程序",
    },
    "docs/bridges.md": {
        "en": "pytorch tensorflow jax framework record use with",
        "zh": "pytorch tensorflow jax 框架",
    },
}
"""The words by page and language."""
