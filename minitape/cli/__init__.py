"""The `minitape` command, which opens lessons, checks and saves notebooks, and explains gradients.

Only the console script imports this package, which keeps `import minitape` lightweight. Each command imports its
modules when it runs, which keeps `minitape --help` fast.

``lab``, ``lesson_files``, ``course_map``
    copy the lessons and a map of them for a learner, and open them in JupyterLab
``site``, ``site_folder``, ``lesson_pages``, ``chinese_search``
    write the lessons as a site with interactive pictures and a search that supports Chinese
``run_places``
    link the lessons' pages to the places where they can be run
``lite``, ``browser_python``, ``playground_page``
    write a JupyterLite site that runs the lessons in the browser, including Python and the playground
``server``, ``contents_manager``
    extend Jupyter servers, including JupyterHub's, to serve minitape's notebooks correctly
``check_notebooks``, ``notebook_rules``, ``nbval_recorder``, ``kernel``
    run notebooks under nbval and check the other rules for notebooks
``save``, ``new_lesson``
    run and save notebooks, and write the skeleton of a lesson
``handins``, ``class_figures``, ``class_report``
    read the hand-ins of a class and report its progress
``nbgrader``, ``grading``
    export lessons as graded assignments
``explain_program``, ``job_page``, ``cause_page``
    run a training program under its framework's bridge, print one page for the processes of a job, and print the page
    about a cause
``messages``, ``optional_packages``, ``terminal_report``
    translate messages, show the command that installs a missing package, and format output for the terminal
"""

import os
import shlex
import subprocess
import sys
from functools import partial
from inspect import cleandoc
from pathlib import Path

import click
from click import ClickException, argument, echo, option

import minitape
from minitape.common.atomic_write import open_replacement_file

from ..engine.types import Names, OptionalFlag, OptionalNumber, OptionalPath, OptionalText, PathSequence
from .messages import CommandContext, convert_write_errors, create_usage_error, say
from .optional_packages import describe_missing_package, require_packages

# nbformat validates notebooks with jsonschema, which takes a second to compile 38 grammars if it finds this package.
# The grammars describe internationalized addresses, which do not occur in the notebook format.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

# In older ipykernel versions, each import of the debugger prints a five-line warning on stderr.
os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")

LANGUAGE_OPTION = option("--language", metavar="CODE", help="The language of the course's own lessons, such as zh.")
ANY_PATH = click.Path(path_type=Path)
OUTPUT_FILE = click.Path(path_type=Path, dir_okay=False)
OUTPUT_FOLDER = click.Path(path_type=Path, file_okay=False)
EXISTING_FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)
NOTEBOOKS_ARGUMENT = argument("notebooks", nargs=-1, type=ANY_PATH)


class TranslatedCommandGroup(click.Group):
    """The group of all commands. Their help is shown in the user's language.

    If a command needs a package that is not installed, the error message contains the command that installs the
    package.
    """

    context_class = CommandContext

    def add_command(self, cmd: click.Command, name: OptionalText = None) -> None:
        """Add a command and translate its help and the help of its options.

        Args:
            cmd: The command to add.
            name: The command's name, if it differs from `cmd.name`.
        """
        cmd.context_class, cmd.help = CommandContext, say(cleandoc(cmd.help or ""))
        for parameter in cmd.params:
            if isinstance(parameter, click.Option):
                parameter.help = say(parameter.help or "")
        super().add_command(cmd, name)

    def invoke(self, ctx: click.Context) -> object:
        """Call the command that the user typed.

        Args:
            ctx: The group's context.

        Returns:
            The command's return value.

        Raises:
            click.ClickException: If a package that the command needs is not installed.
        """
        try:
            return super().invoke(ctx)
        except ModuleNotFoundError as error:
            package = str(error.name).partition(".")[0]
            if package == "minitape":
                raise
            raise ClickException(describe_missing_package(package)) from error


@click.group(
    cls=TranslatedCommandGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(minitape.__version__, "-V", "--version", prog_name="minitape")
def main() -> None:
    """A course on automatic differentiation, and a debugger for gradients in PyTorch, TensorFlow and JAX.

    Start with: minitape lab
    """


main.help = say(cleandoc(main.help or ""))


@main.command("lab")
@argument("folder", required=False, type=ANY_PATH)
@LANGUAGE_OPTION
@option("--ip", default="127.0.0.1", show_default=True, help=("The address to listen on (in a container: 0.0.0.0)."))
@option(
    "--port",
    type=click.IntRange(1, 65535),
    help=("The port to listen on. By default, the first free port from 8888 up."),
)
@option(
    "--browser/--no-browser",
    default=None,
    help=("Whether to open a browser. By default, a browser opens if there is one."),
)
@option("--copy-only", is_flag=True, help="Copy the lessons without starting JupyterLab.")
@option("--own", is_flag=True, help="Open your own notebooks in FOLDER without copying the lessons.")
@option("--verbose", is_flag=True, help="Show all of JupyterLab's messages.")
def lab_command(
    folder: OptionalPath,
    language: OptionalText,
    ip: str,
    port: OptionalNumber,
    browser: OptionalFlag,
    copy_only: bool,
    own: bool,
    verbose: bool,
) -> None:
    """Open the lessons in JupyterLab.

    Copies missing lessons to FOLDER (./minitape-lessons by default) and starts JupyterLab there, at the lesson that you
    worked on last. Files that are already in FOLDER are yours and are never overwritten. By default, the server listens
    on this machine only and requires a token.

    Without --language, the lessons stay in the language that they have in FOLDER. In a new folder, they are in your
    system's language.
    """
    if not copy_only:
        require_packages("jupyterlab")  # Check this before any files are copied.
    from .lab import LEARNER_FOLDER, copy_and_report_lessons, run_jupyterlab

    if not own:
        folder = copy_and_report_lessons(folder, language)
    elif copy_only or language:
        other_option = "--copy-only" if copy_only else "--language"
        raise create_usage_error("--own and {option} cannot be used together", option=other_option)
    elif not (folder := folder or Path(LEARNER_FOLDER)).is_dir():
        raise create_usage_error("the folder {folder} does not exist", folder=folder)
    if not copy_only:
        run_jupyterlab(folder, ip, port, browser, verbose)


timeout_option = option(
    "--timeout",
    type=click.FloatRange(1),
    default=120,
    show_default=True,
    help=("The time limit for each cell, in seconds."),
)


@main.command("check")
@NOTEBOOKS_ARGUMENT
@LANGUAGE_OPTION
@option(
    "--variant",
    type=click.Choice(["both", "blank", "solved"]),
    default="both",
    show_default=True,
    help="Run exercises as saved, with their solutions filled in, or both.",
)
@option(
    "--jobs", type=click.IntRange(1), default=2, show_default=True, help=("The number of notebooks to run at once.")
)
@timeout_option
@option("-q", "--quiet", is_flag=True, help="Print only the problems that were found.")
def check_command(
    notebooks: PathSequence,
    language: OptionalText,
    variant: str,
    jobs: int,
    timeout: float,
    quiet: bool,
) -> None:
    """Run notebooks and report every difference.

    Without NOTEBOOKS, the course's own lessons are checked. A folder stands for all notebooks in it. nbval compares the
    new outputs with the saved outputs exactly. Cells that were never run, unknown magics, failing ! commands, text on
    stderr and saved widget state are also reported. The notebooks themselves are not changed.

    The exit status is 0 if all is well, 1 if problems were found, and 2 if a notebook could not be checked.
    """
    from .check_notebooks import resolve_notebook_paths
    from .terminal_report import check_notebooks_with_progress_bar, print_check_results

    paths = resolve_notebook_paths(notebooks, language)
    variants = ("blank", "solved") if variant == "both" else (variant,)
    if not notebooks and not quiet:
        message = (
            "Running the course's {count} lessons takes several minutes. To check only one: minitape check NOTEBOOK"
        )
        echo(say(message, count=len(paths)), err=True)
    results = check_notebooks_with_progress_bar(paths, variants, jobs, timeout)
    print_check_results(results, quiet)
    sys.exit(max(result.exit_code for result in results))


def _show_cause_page(context: click.Context, parameter: click.Parameter, text: OptionalText) -> None:
    """Print the page about a cause and exit if the option was given."""
    from .cause_page import show_cause_page

    show_cause_page(context, text)


@main.command("explain", context_settings={"allow_interspersed_args": False})
@option("-m", "as_module", is_flag=True, help="Run PROGRAM as a module, like python -m.")
@argument("program")
@argument("arguments", nargs=-1, type=click.UNPROCESSED)
@option(
    "--steps", type=click.IntRange(1), default=5, show_default=True, help="Record only this many steps, from the start."
)
@option("--every", type=click.IntRange(1), metavar="N", help="Record every N-th step instead.")
@option(
    "--json",
    "answers",
    type=OUTPUT_FILE,
    metavar="FILE",
    help="Also write the explanations to a JSON file.",
)
@option("--framework", type=click.Choice(["torch", "tensorflow", "jax"]), help=("The framework that the program uses."))
@option(
    "--rerun",
    is_flag=True,
    help=(
        "Let a PyTorch program run again to record the step that went wrong, even if it writes files or takes a long "
        "time."
    ),
)
@option(
    "--fail",
    is_flag=True,
    help="Exit with status 1 if there are findings, even under torchrun, which then ends the other processes.",
)
@option(
    "--cause",
    metavar="NAME",
    is_eager=True,
    expose_value=False,
    callback=_show_cause_page,
    help="Print the page about a cause, such as detach, and exit. NAME may be an error message, or all for a list.",
)
@click.pass_context
def explain_command(
    context: click.Context,
    program: str,
    arguments: Names,
    as_module: bool,
    steps: int,
    every: OptionalNumber,
    answers: OptionalPath,
    framework: OptionalText,
    rerun: bool,
    fail: bool,
) -> None:
    """Run a training PROGRAM and explain problems with its gradients.

    Options for this command must come before PROGRAM. Everything after PROGRAM belongs to the program's own ARGUMENTS.
    With PyTorch and TensorFlow, training steps are recorded. With JAX, the first gradients are recorded, by running
    each function again without the compiler. A gradient that is missing, not finite, zero or suspect is reported
    immediately. A page about all trained parameters follows at the end. The exit status is 1 if there are findings or
    the program ended in an error. Under torchrun, findings alone lead to status 1 only with --fail.
    """
    from .explain_program import run_and_explain_program

    own_options = {
        name for parameter in context.command.params if isinstance(parameter, click.Option) for name in parameter.opts
    }
    for name in sorted(own_options.intersection(text.partition("=")[0] for text in arguments)):
        message = (
            "{name} comes after {program}, so it belongs to the program. Options for minitape explain must come "
            "before {program}"
        )
        echo(say(message, name=name, program=program), err=True)
    options = {"first": steps} if every is None else {"every": every}
    sys.exit(run_and_explain_program(program, arguments, as_module, framework, options, answers, rerun, fail))


@main.command("save")
@argument("notebooks", nargs=-1, required=True, type=ANY_PATH)
@timeout_option
def save_command(notebooks: PathSequence, timeout: float) -> None:
    """Run NOTEBOOKS and save them with their outputs.

    Each notebook is run in a fresh kernel, and saved without widget state and with stable cell IDs. If a cell
    fails or writes to stderr, its notebook is left unchanged. All other notebooks are saved.
    """
    from .check_notebooks import resolve_notebook_paths
    from .save import run_and_save_notebook

    has_failed = False
    for path in resolve_notebook_paths(notebooks):
        try:
            run_and_save_notebook(path, timeout)
        except ClickException as error:
            error.show()
            has_failed = True
        else:
            echo(say("saved {path}", path=path))
    sys.exit(int(has_failed))


@main.command("new-lesson")
@argument("name")
@option("--title", help="The lesson's title. By default, it is derived from NAME.")
def new_lesson_command(name: str, title: OptionalText) -> None:
    """Write the skeleton of a lesson.

    NAME.ipynb contains one exercise and passes `minitape check`.
    """
    from .new_lesson import write_lesson_skeleton

    path = write_lesson_skeleton(name, title)
    typed_folder = quote_for_shell(path.parent)
    typed_path = quote_for_shell(path)
    next_steps = "Edit it with minitape lab --own {folder}, and then run minitape save {path} and minitape check {path}"
    echo(say("wrote {path}", path=path))
    echo(say(next_steps, folder=typed_folder, path=typed_path))


def quote_for_shell(path: Path) -> str:
    """Quote a path for this system's shell if necessary.

    Args:
        path: The path.

    Returns:
        The text to type, in the syntax of cmd.exe on Windows and of POSIX shells elsewhere.
    """
    return subprocess.list2cmdline([str(path)]) if os.name == "nt" else shlex.quote(str(path))


@main.command("class")
@argument("folders", nargs=-1, required=True, type=EXISTING_FOLDER)
@option(
    "--csv",
    type=OUTPUT_FILE,
    metavar="FILE",
    help=("Also write all results to a CSV file."),
)
def class_command(folders: PathSequence, csv: OptionalPath) -> None:
    """Show how far a class has come, and where it is stuck.

    FOLDER contains a folder for each learner, with progress files (.minitape-progress.json) or returned notebooks. It
    can also be the folder of a single learner, as in `minitape class /home/*/minitape-lessons`.

    Nothing in the files is run. Notebooks contain the last answers. Progress files also contain the number of attempts
    and the times. Learners can change both, so use minitape export --nbgrader for grades.
    """
    from .class_figures import compute_class_figures
    from .class_report import format_class_csv, print_class_figures, read_hand_ins_with_progress_bar

    hand_ins = read_hand_ins_with_progress_bar(folders)
    if not hand_ins:
        folder_names = ", ".join(map(str, folders))
        raise create_usage_error("no progress files or notebooks found in {folders}", folders=folder_names)
    class_figures = compute_class_figures(hand_ins)
    print_class_figures(class_figures, hand_ins)
    if csv is not None:
        with convert_write_errors(csv), open_replacement_file(csv, newline="") as file:
            file.write(format_class_csv(class_figures, hand_ins))
        echo(say("wrote {path}", path=csv))


@main.command("export")
@argument("lessons", nargs=-1, required=True)
@LANGUAGE_OPTION
@option("--nbgrader", is_flag=True, required=True, help="Write nbgrader assignments, for grading.")
@option(
    "--to",
    "course",
    type=OUTPUT_FOLDER,
    default=".",
    metavar="COURSE",
    help="The folder of the nbgrader course. By default, the current folder.",
)
def export_command(lessons: Names, language: OptionalText, nbgrader: bool, course: Path) -> None:
    """Write lessons as assignments that another tool grades.

    A lesson is the number of a course lesson, such as 01, or one of your notebooks. Each exercise keeps the code that
    it gives to learners. It is followed by a grade cell, which fails until the answer is right. A notebook that
    contains its own answers, such as one created by `minitape new-lesson`, becomes an exam: the answers are hidden, and
    learners do not see whether their own answers are right. The answers to the course's lessons are in the installed
    package, where learners can find them.
    """
    from .nbgrader import export_lesson, write_settings_or_find_missing_lines

    for lesson in lessons:
        path, count = export_lesson(lesson, course, language)
        echo(say("wrote {path}; exercises: {count}, one point each", path=path, count=count))
    missing_lines = write_settings_or_find_missing_lines(course)
    if missing_lines:
        advice = (
            "Add these lines to {file}. Without them, learners get an error in every exercise, or no points for a "
            "notebook from minitape-lessons:"
        )
        echo(f"{say(advice, file=course / 'nbgrader_config.py')}\n{missing_lines}")
    next_steps = (
        "Next, type in {folder}: nbgrader generate_assignment {name}. Then give learners the notebook in "
        "release/{name}."
    )
    echo(say(next_steps, folder=course, name=path.stem))


@main.command("site")
@argument("out", type=OUTPUT_FOLDER)
@argument("folder", required=False, type=EXISTING_FOLDER)
@option(
    "--language",
    "languages",
    multiple=True,
    metavar="CODE",
    help=(
        "The language of the course's own lessons, such as zh. To publish both languages side by side, give the "
        "option twice."
    ),
)
@option(
    "--lite", is_flag=True, help=("Write JupyterLite instead of pages. It runs the lessons in the reader's browser.")
)
@option(
    "--offline",
    is_flag=True,
    help=("With --lite or --run: put Python into OUT, so that pages load nothing from other sites."),
)
@option(
    "--pyodide",
    metavar="FOLDER",
    type=EXISTING_FOLDER,
    help="With --lite or --run: use Python for the browser (Pyodide) from this folder instead of its CDN.",
)
@option(
    "--run",
    "has_python",
    is_flag=True,
    help="Add a Run button to each cell, and run the cells with Python in the browser.",
)
@option("--hub", metavar="ADDRESS", default="", help="Link each page to the same lesson on this JupyterHub.")
def site_command(
    out: Path,
    folder: OptionalPath,
    languages: Names,
    lite: bool,
    offline: bool,
    pyodide: OptionalPath,
    has_python: bool,
    hub: str,
) -> None:
    """Write lessons as web pages with interactive pictures.

    The lessons are the notebooks in FOLDER or, without FOLDER, the course's own. The pages in the folder OUT need no
    kernel and no network, and load nothing from other machines. They contain no answers: the answer cell and the folded
    solutions are left out. Sphinx builds the pages: pip install "minitape[docs]". An older site in OUT is replaced.

    With --run, the cells of the pages can be changed and run in the browser. With --lite, OUT contains JupyterLite
    instead of pages. Both need a web server, and the packages of pip install "minitape[lite]". The reader's browser
    loads Python (Pyodide) from cdn.jsdelivr.net or, with --offline, from the site itself.
    """
    _check_site_options(folder, lite, has_python, hub, has_python_source=offline or pyodide is not None)
    if lite:
        from .lite import write_lite_site

        with convert_write_errors(out):
            count = write_lite_site(out, languages, offline, pyodide)
        message = "wrote {out}: {count} notebooks that run in the browser. To open them: python -m http.server -d {out}"
        echo(say(message, out=out, count=count))
        return
    from .site import write_lesson_site

    write_python_site = None
    if has_python:
        from .lite import write_lite_site

        write_python_site = partial(write_lite_site, language_codes=languages, offline=offline, pyodide_folder=pyodide)
    with convert_write_errors(out):
        count = write_lesson_site(out, folder, languages, hub, write_python_site)
    echo(say("wrote {path}: {count} pages", path=out / "index.html", count=count))


def _check_site_options(folder: OptionalPath, lite: bool, has_python: bool, hub: str, has_python_source: bool) -> None:
    """Raise click.UsageError if the options of `minitape site` contradict each other."""
    if has_python_source and not lite and not has_python:
        raise create_usage_error(
            "--offline and --pyodide work only with --lite or --run, because other pages need no Python"
        )
    if hub and not hub.startswith(("http://", "https://")):
        raise create_usage_error(
            "{hub} is not the address of a JupyterHub. Such an address looks like https://hub.example.org", hub=hub
        )
    if lite and folder is not None:
        raise create_usage_error("--lite always publishes the course's own lessons, so it does not take a FOLDER")
    if lite and (has_python or hub):
        raise create_usage_error("--run and --hub apply to pages, but --lite writes JupyterLite instead of pages")


@main.command("warmup")
@option(
    "--shared", is_flag=True, help=("Store the kernels for all users of this Python, in its folder var/cache/minitape.")
)
def warmup_command(shared: bool) -> None:
    """Compile the numba kernels ahead of time.

    After that, the first long tape does not have to wait for them.
    """
    from .terminal_report import warm_up_kernels

    warm_up_kernels(shared)
