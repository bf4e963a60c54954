"""Run a PyTorch program for ``minitape explain``, and explain the step that went wrong.

The first steps are recorded in the watched run itself. If a later step goes wrong, a copy of the process repeats the
run up to that step with the same random numbers, and records only that step. The copy is created before the program
begins or while it is running.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from time import monotonic
from traceback import extract_tb
from typing import Any, NoReturn
from warnings import filterwarnings

import numpy as np
import torch

from ...common.translation import format_error
from ...engine.types import CountsByName, OptionalError, OptionalFlag
from ...explain.caller import warn_at_user_line
from ...explain.translated_sentences import fill
from ..model_page import ModelPage, join_parameter_names
from ..nonfinite_values import explain_origin_of_nonfinite_values
from ..program import FrameworkBlock, RunnableProgram, execute_as_main_and_pass_error
from ..run_watch.accounts import Anomaly
from ..run_watch.anomaly_sentences import (
    describe_first_nonfinite_value,
    describe_second_run_and_compare_losses,
    find_first_pass_with_different_loss,
)
from ..run_watch.findings import find_line_that_left_gradients_off, find_run_findings
from ..run_watch.report import (
    ProblemGroup,
    ProblemGroupList,
    RunReport,
    build_problem_group,
    is_about_none,
    list_problem_groups,
)
from ..run_watch.side_effects import SideEffects
from ..run_watch.summary import summarize_run
from ..run_watch.waiting_copies import (
    CopyRequest,
    Message,
    WaitingCopy,
    describe_why_process_cannot_be_copied,
    fork_waiting_copy,
)
from .copy_window import CopyWindow
from .ledger.run_watch import TorchRunWatch
from .overruled import remove_problems_disproved_by_whole_run
from .patch_runs import try_patch_and_add_verdict
from .raised_errors import explain_error_by_message_alone, explain_raised_error
from .recording import TorchRecording, keep_used_models_and_optimizers_alive, record
from .suspects import (
    build_checked_run,
    move_finding_to_line_to_blame,
    record_findings_of_operations,
    record_first_suspicion_of_each_source,
)

SEED = 20240  # The seed for all random numbers, unless the program sets its own.
COPY_INTERVAL = 5.0  # The number of seconds between copies of the running program.
MAX_COPIES = 2
EARLY_REPORT_SECONDS = 20.0  # The maximum number of seconds before a problem in the first steps is reported.
TRIED_PASSES = 1, 2
MAX_TRIALS = 4  # The maximum number of problems whose patches are tried.
MAX_TRIAL_SECONDS = 30.0  # A patch is not tried if reaching the step in question takes longer than this.
QUICK_REPEAT_SECONDS = 60.0  # A run shorter than this is repeated from the beginning, with the same number of threads.
MAX_REPEAT_SECONDS = 600  # A run longer than this is repeated only at the user's request.


def seed_random_numbers() -> None:
    """Seed Python's, NumPy's and PyTorch's random generators, so that a second run draws the same numbers."""
    random.seed(SEED)
    np.random.seed(SEED)
    torch.manual_seed(SEED)


@dataclass(eq=False)
class WatchedProgram:
    """A program that runs under a watch.

    Attributes:
        text: The program's text.
        may_repeat: Whether the user allows a second run even if the program writes files or takes a long time.
        options: The options of ``record`` that select the steps to record.
        other_blocks: The recording blocks for the other frameworks that the program imports.
        watch: The watch on the run.
        anomaly_answer: A copy's answer about the first non-finite value, or None if none exists.
    """

    text: RunnableProgram
    may_repeat: bool
    options: CountsByName
    other_blocks: Sequence[FrameworkBlock]

    def __post_init__(self) -> None:
        """Prepare the run."""
        self.watch = TorchRunWatch(on_pass=self._make_or_ask_copy_or_report_early_problem)
        self.side_effects = SideEffects()
        self.anomaly_answer: Message | None = None
        self.obstacle = ""
        self._anomaly_was_recorded: OptionalFlag = None  # This is None until an anomaly is found.
        self._start_copy: WaitingCopy | None = None
        self._copies: list[WaitingCopy] = []
        self._began = self._copied_at = monotonic()
        self._copy_window: CopyWindow | None = None  # Only a copy that answers a request has a window.
        self._recording: Any = None  # The block that records the selected steps. It has the attributes of a recording.
        self._pages: list[ModelPage] = []
        # The number of lines that had created optimizers when the last recording ended, or 0 if it showed problems.
        self._optimizer_lines = 0
        self._explained_passes = 0  # The number of backward passes before the page was made.
        self._keys_with_early_gradients: set[int] = set()  # The parameters that had gradients when the page was made.
        self._keys_by_name: CountsByName = {}
        self._early_report: RunReport | None = None
        self._on_problem: Callable[[RunReport], object] = bool

    # -- the run -----------------------------------------------------------------------------------

    def run_program(self, on_problem: Callable[[RunReport], object]) -> RunReport:
        """Run the program and report on it.

        Args:
            on_problem: A function that is called with a report about the first steps if they show a problem and the
                program keeps running for a long time.
        """
        self._on_problem = on_problem
        self.obstacle = describe_why_process_cannot_be_copied()
        if not self.obstacle:
            copy = fork_waiting_copy(0)
            if isinstance(copy, CopyRequest):
                self._rerun_program_and_answer(copy)
            self._start_copy = copy
        seed_random_numbers()
        self.side_effects.start_noticing()
        if torch.distributed.is_available():
            self.watch.patches.wrap_function(
                torch.distributed, "init_process_group", self._create_process_group_and_cancel_second_run
            )
        report = RunReport(ModelPage())
        try:
            with (
                ExitStack() as stack,
                keep_used_models_and_optimizers_alive(),
                self._open_watch(),
                record(**self.options) as recording,
            ):
                for block in self.other_blocks:
                    stack.enter_context(block)
                self._recording = recording
                self._recording.on_recorded = self._explain_first_steps_and_prepare_early_report

                def finish_run(error: OptionalError) -> None:
                    if self._copy_window is not None:
                        self._copy_window.explain_then_answer_and_exit_at_program_end(error)
                    self.watch.stop_watching()
                    for block in self.other_blocks:
                        block.finish_recording_and_explain(error)
                    nonlocal report
                    report = self._build_report(error)

                execute_as_main_and_pass_error(self.text, finish_run)
        finally:
            self.side_effects.stop_noticing()
            for waiting_copy in self._list_waiting_copies():
                waiting_copy.terminate_copy()
        return report

    def _create_process_group_and_cancel_second_run(self, original: Callable, *args: Any, **kwargs: Any) -> None:
        """Rule out a second run, because it would communicate with the job's other processes."""
        if self._start_copy is not None:
            self._start_copy.terminate_copy()
            self._start_copy = None
        self.obstacle = fill(
            "a second run would communicate with the job's other processes; use --steps N to record the first N steps "
            "of this run"
        )
        original(*args, **kwargs)

    @contextmanager
    def _open_watch(self) -> Iterator[None]:
        self.watch.start_watching()
        # minitape's own hooks cause this warning.
        filterwarnings("ignore", r"Using `torch.compile\(module\)` when there are global hooks")
        try:
            yield
        finally:
            self.watch.patches.undo_all()

    def _explain_first_steps_and_prepare_early_report(self) -> None:
        """Explain the recorded steps, and prepare a report in case the program keeps running for a long time."""
        accounts = self.watch.accounts
        # An earlier page covers only calls to autograd.grad if the program had not yet called backward().
        is_first_with_backward = accounts.passes > self._explained_passes == 0
        if self._pages and self._pages[0].problems and not is_first_with_backward:
            return
        try:
            latest: TorchRecording = self._recording.latest
            latest.explains_steps = False  # The accounts cover the whole run, not only its first steps.
            run = build_checked_run(latest)
            record_findings_of_operations(run, accounts)
            optimizer_lines = len({*accounts.optimizer_sites})
            if self._optimizer_lines and not is_first_with_backward:  # These are another optimizer's first steps.
                self._optimizer_lines = optimizer_lines
                record_first_suspicion_of_each_source(run, accounts)
                return
            self._keys_by_name = {
                name: id(source) for name, source in latest.collect_sources_meant_to_be_trained().items()
            }
            page = self._recording.explain()
            self._optimizer_lines = 0 if page.problems or not self._recording.first else optimizer_lines
        except Exception as error:  # An error in an explanation must not end the training run.
            warn_at_user_line(f"The gradients could not be explained: {format_error(error)}")
            return
        self._pages[:] = [page]
        self._explained_passes = accounts.passes
        self._keys_with_early_gradients = {key for key, account in accounts.accounts.items() if account.got_gradient}
        report = RunReport(page)
        self._add_problems_findings_and_summary(report, list_problem_groups(page))
        # A step may still use these gradients, because a program may sum the gradients of many passes before its first
        # step.
        report.problems = [group for group in report.problems if group.cause != "not_applied"]
        is_worth_reporting = any(group.kind not in ("unused", "error") for group in report.problems)
        self._early_report = report if is_worth_reporting else None

    # -- copies ------------------------------------------------------------------------------------

    def _make_or_ask_copy_or_report_early_problem(self, pass_number: int) -> None:
        """Create copies at intervals, and send a request to one of them as soon as a non-finite value appears.

        Also report a problem in the first steps as soon as its report is due.

        Args:
            pass_number: The number of the pass that has just ended.
        """
        if self._copy_window is not None:
            self._copy_window.update_recording_or_answer_after_pass(pass_number)
            return
        accounts = self.watch.accounts
        if self._early_report is not None and monotonic() - self._began > EARLY_REPORT_SECONDS:
            report = self._early_report
            self._early_report = None
            if not accounts.skipped_step_count:
                self._on_problem(report)
        if accounts.anomaly is not None:
            if self._anomaly_was_recorded is None:
                self._anomaly_was_recorded = self._recording.is_recording
            if not self._anomaly_was_recorded and self.anomaly_answer is None and not self.obstacle:
                self.anomaly_answer = self._ask_copy_about_anomaly(accounts.anomaly)
            return
        if len({*accounts.optimizer_sites}) > self._optimizer_lines > 0:
            self._recording.record_next_steps_unless_recording(self.options["first"])
        if monotonic() - self._copied_at > COPY_INTERVAL:
            self._copied_at = monotonic()
            self._copy_program_if_possible(pass_number)

    def _copy_program_if_possible(self, pass_number: int) -> None:
        """Copy the running program if it can continue in another process.

        Args:
            pass_number: The number of completed backward passes.
        """
        is_alone = not self.side_effects.first and not torch.cuda.is_initialized()
        if self._start_copy is None or not is_alone or describe_why_process_cannot_be_copied():
            return
        copy = fork_waiting_copy(pass_number)
        if isinstance(copy, WaitingCopy):
            self._copies.append(copy)
            for old in self._copies[:-MAX_COPIES]:
                old.terminate_copy()
            del self._copies[:-MAX_COPIES]
            return
        for inherited in self._list_waiting_copies():
            inherited.close_own_pipe_ends()
        torch.set_num_threads(1)  # Only the original process has the thread pool's threads.
        self.watch.follows_all = True
        self.watch.accounts.anomaly = None
        self._copy_window = CopyWindow(copy, self.watch, not self.may_repeat)
        self._copy_window.update_recording_or_answer_after_pass(pass_number)

    def _list_waiting_copies(self) -> list[WaitingCopy]:
        return [copy for copy in (self._start_copy, *self._copies) if copy is not None]

    def _rerun_program_and_answer(self, request: CopyRequest) -> NoReturn:
        """Run the program from the beginning in this process to answer a request.

        Args:
            request: The request to answer.
        """
        self.text = self.text._replace(source=request.fields.get("source"))
        self.watch = TorchRunWatch(follows_all=True, on_pass=self._make_or_ask_copy_or_report_early_problem)
        self._copy_window = window = CopyWindow(request, self.watch, not self.may_repeat)
        seed_random_numbers()
        with keep_used_models_and_optimizers_alive(), self._open_watch():
            window.update_recording_or_answer_after_pass(0)
            execute_as_main_and_pass_error(self.text, window.explain_then_answer_and_exit_at_program_end)
        request.answer_and_exit(None)

    def _ask_copy_about_anomaly(self, anomaly: Anomaly) -> Message | None:
        """Let a copy record the pass in which the first non-finite value arose.

        Args:
            anomaly: The first non-finite value.
        """
        return self._ask_start_or_last_copy_before(
            anomaly.first_pass, {"kind": "anomaly", "low": anomaly.first_pass, "high": anomaly.pass_number}
        )

    def _ask_start_or_last_copy_before(self, pass_number: int, request_fields: Message) -> Message | None:
        """Send a request to the last copy that was created before a pass, and return the copy's answer.

        If no such copy exists, or if the program has run for only a short time, ask the copy that runs the program
        from the beginning. If neither copy answers, set ``obstacle`` and return None.
        """
        request_fields = request_fields | {"seconds": MAX_REPEAT_SECONDS}
        seconds = monotonic() - self._began
        usable = [copy for copy in self._copies if copy.pass_number < pass_number]
        is_quick = seconds < QUICK_REPEAT_SECONDS
        if usable and (not is_quick or (self.side_effects.first and not self.may_repeat)):
            answer = usable[-1].send_request_and_read_answer(request_fields)
            if answer is not None:
                return answer
        answer = self._ask_start_copy(request_fields, seconds)
        if answer is not None and usable and find_first_pass_with_different_loss(answer, self.watch.accounts.losses):
            return usable[-1].send_request_and_read_answer(request_fields) or answer
        return answer

    def _ask_start_copy(self, request_fields: Message, running_seconds: float) -> Message | None:
        """Send a JSON request to the copy that runs the program from the beginning, and return its JSON answer.

        Args:
            request_fields: The request.
            running_seconds: The number of seconds for which the program has been running.
        """
        effect = "" if self.may_repeat else self.side_effects.first
        if self._start_copy is None:
            return None
        if effect:
            self.obstacle = _describe_effect(effect)
            return None
        if running_seconds > MAX_REPEAT_SECONDS and not self.may_repeat:
            self.obstacle = fill(
                "the program took {n} minutes to reach this step; use --rerun to run it again anyway",
                n=round(running_seconds / 60),
            )
            return None
        limit = 100 * MAX_REPEAT_SECONDS if self.may_repeat else MAX_REPEAT_SECONDS
        answer = self._start_copy.send_request_and_read_answer(request_fields | {"seconds": limit})
        if answer is None:
            stopped_by = self._start_copy.stopped_by
            unreached = fill("the second run did not reach this step")
            self.obstacle = _describe_effect(stopped_by) if stopped_by else unreached
        return answer

    # -- the report --------------------------------------------------------------------------------

    def _build_report(self, error: OptionalError) -> RunReport:
        """Return the report on the finished run."""
        accounts = self.watch.accounts
        if self._anomaly_was_recorded is None:
            self._anomaly_was_recorded = self._recording.is_recording
        self._recording.__exit__(type(error) if error else None, error, None)
        page = self._pages[0] if self._pages else ModelPage()
        report = RunReport(
            page,
            error,
            first_anomaly=accounts.anomaly,
            passes=accounts.passes,
            steps=accounts.taken_step_count,
        )
        groups = remove_problems_disproved_by_whole_run(
            list_problem_groups(page), accounts, self._keys_by_name, self._keys_with_early_gradients
        )
        if isinstance(error, (Exception, KeyboardInterrupt)):
            report.raised = self._explain_error_by_message_or_grad_off(
                error
            ) or self._explain_autograd_error_by_recording(error)
            has_gradients = len(accounts.losses) > 0
            groups = [group for group in groups if has_gradients and group.kind not in ("error", "unused")]
        explains_anomaly = self._anomaly_was_recorded and any(group.kind == "nonfinite" for group in groups)
        if accounts.anomaly is not None and not explains_anomaly:
            self._add_anomaly_and_its_problems(report, accounts.anomaly)
        self._add_problems_findings_and_summary(report, groups)
        if not report.error:
            self._try_patches(report)
        # The program deliberately does not train the parameters of these groups.
        report.remarks += [group.heading for group in page.list_groups(has_numbers=False) if group.role == "untrained"]
        report.missed_all_gradients = not accounts.passes and not accounts.gradient_calls
        report.is_cut_short = bool(accounts.watch_error)
        return report

    def _add_problems_findings_and_summary(self, report: RunReport, groups: ProblemGroupList) -> None:
        """Add the first steps' problems, the findings from the accounts, and the summary to a report.

        Args:
            report: The report to extend.
            groups: The problems found in the first steps.
        """
        accounts = self.watch.accounts
        page_names = {key: name for name, key in self._keys_by_name.items()}

        def find_name(key: int) -> str:
            return page_names.get(key) or self.watch.find_name(key)

        unread = [
            group
            for group in groups
            if group.cause == "unused" and not self._is_any_parameter_read_in_recorded_steps(group)
        ]
        report.remarks += map(str, unread)
        groups = [group for group in groups if group not in unread]
        blamed_names = {name for group in groups + report.anomaly_problems for name in group.names}
        accused = {key for name, key in self._keys_by_name.items() if name in blamed_names}
        report.problems = [group for group in groups if group.kind != "nonfinite"]
        latest: TorchRecording | None = self._recording.latest
        for finding in find_run_findings(
            accounts, lambda finding: finding if latest is None else move_finding_to_line_to_blame(latest, finding)
        ):
            new_keys = set(finding.keys) - accused
            names = sorted(filter(None, map(find_name, new_keys)))
            heading = fill("Gradient found for {which}.", which=join_parameter_names(names)) if names else ""
            group = build_problem_group(finding.to_explanation("torch"), names, heading)
            if finding.variant == "shared" and report.raised and report.raised.cause == "in_place":
                report.raised = group._replace(further=[report.raised.message])
            if finding.is_remark:
                report.remarks.append(str(group))
            elif new_keys or not finding.keys:
                accused |= new_keys
                report.problems.append(group)
        # A mistake found in the run may have caused the non-finite values.
        report.problems += [group for group in groups if group.kind == "nonfinite"]
        if any(group.cause == "exploding" for group in report.problems):
            # If the training diverges, the non-finite values are only the consequence.
            report.problems += report.anomaly_problems
            report.anomaly_problems = []
        is_well = not (report.problems or report.anomaly or report.error)
        if not accounts.passes and accounts.gradient_calls and not report.error:
            report.summary = _format_grad_call_count_and_problem_free_page(
                report.page, accounts.gradient_calls, is_well
            )
        else:
            report.summary = summarize_run(accounts, find_name, accused, is_well)

    def _is_any_parameter_read_in_recorded_steps(self, group: ProblemGroup) -> bool:
        """Return whether any of a problem's parameters was read in the recorded steps.

        Args:
            group: The problem.
        """
        read = {id(row.find_object()) for row in self._recording.latest.rows}
        return any(self._keys_by_name.get(name) in read for name in group.names)

    def _try_patches(self, report: RunReport) -> None:
        """Try the patch for each problem in copies of the process that run the program from the beginning.

        Args:
            report: The report that contains the patches to try.
        """
        pass_number = 1
        if self.anomaly_answer is not None:
            pass_number = self.anomaly_answer["pass"]
        elif self.watch.accounts.anomaly is not None:
            pass_number = self.watch.accounts.anomaly.pass_number
        source = self.text.read_source()
        trials = 0
        for groups in (report.anomaly_problems, report.problems):
            for index, group in enumerate(groups):
                if group.patch is None:
                    continue
                is_own_file = group.file == str(self.text.path)
                if trials >= MAX_TRIALS or not is_own_file:
                    groups[index] = group._replace(is_patch_offered=True, trial=fill("The patch was not tested."))
                    continue
                trials += 1
                # The first pass may belong to another loss, as in a GAN.
                for number in [pass_number] if group.kind == "nonfinite" else TRIED_PASSES:
                    groups[index] = try_patch_and_add_verdict(
                        group, source, number, self._ask_start_copy_for_trial_if_quick, report.problems
                    )
                    if groups[index].is_patch_offered:
                        break

    def _ask_start_copy_for_trial_if_quick(self, request_fields: Message) -> Message | None:
        """Ask the copy that runs the program from the beginning to try a patch.

        Return None if this is impossible or would take too long.

        Args:
            request_fields: The request.
        """
        seconds = (monotonic() - self._began) * request_fields["high"] / max(1, self.watch.accounts.passes)
        if self._start_copy is None or seconds > MAX_TRIAL_SECONDS or (self.side_effects.first and not self.may_repeat):
            return None
        return self._start_copy.send_request_and_read_answer(request_fields | {"seconds": 2 * MAX_TRIAL_SECONDS})

    def _explain_error_by_message_or_grad_off(self, error: BaseException) -> ProblemGroup | None:
        """Explain an error by its message, or say that gradients were still switched off when autograd raised it."""
        findings = find_line_that_left_gradients_off(self.watch.accounts) if self.watch.failure is error else ()
        explanations = [
            explain_error_by_message_alone(error),
            *(finding.to_explanation("torch") for finding in findings),
        ]
        return next((build_problem_group(explanation, []) for explanation in explanations if explanation), None)

    def _explain_autograd_error_by_recording(self, error: BaseException) -> ProblemGroup | None:
        """Explain the error that ended the program if autograd raised it."""
        is_from_autograd = self.watch.failure is error or "leaf Variable" in str(error) or is_about_none(error)
        latest: TorchRecording | None = self._recording.latest
        if latest is None or not is_from_autograd:
            return None
        was_recorded = latest.error is not None and latest.error[0] is error
        if was_recorded or is_about_none(error):
            with suppress(Exception):
                explanation = explain_raised_error(latest, error)
                if explanation is not None or was_recorded or not self._may_second_run_explain_error(error):
                    return None if explanation is None else build_problem_group(explanation, [])
        answer = self._ask_start_or_last_copy_before(
            max(1, self.watch.accounts.passes - 1), {"kind": "error", "low": self.watch.accounts.passes - 1}
        )
        raised = (answer or {}).get("raised")
        return None if raised is None else ProblemGroup(**raised)

    def _may_second_run_explain_error(self, error: BaseException) -> bool:
        """Return whether autograd raised an error, or the program read a ``.grad`` in a step that was not recorded."""
        line = extract_tb(error.__traceback__)[-1].line or ""
        return self.watch.failure is error or (".grad" in line and not self._anomaly_was_recorded)

    def _add_anomaly_and_its_problems(self, report: RunReport, anomaly: Anomaly) -> None:
        """Add what is known about the first non-finite value to a report.

        Args:
            report: The report to extend.
            anomaly: The first non-finite value.
        """
        report.anomaly = describe_first_nonfinite_value(anomaly, self.watch.accounts.losses)
        answer = self.anomaly_answer
        if answer is None and not self._anomaly_was_recorded and not self.obstacle:
            answer = self._ask_copy_about_anomaly(anomaly)
        if answer is None:
            latest: TorchRecording | None = self._recording.latest if self._anomaly_was_recorded else None
            explanation = None if latest is None else explain_origin_of_nonfinite_values(latest)
            if explanation is not None:
                report.anomaly_problems = [build_problem_group(explanation, [])]
            elif self.obstacle:
                report.anomaly += " " + fill("The step was not recorded: {why}.", why=self.obstacle)
            return
        report.anomaly += " " + describe_second_run_and_compare_losses(answer, self.watch.accounts.losses)
        report.anomaly_problems = [ProblemGroup(**group) for group in answer["problems"]]


def _describe_effect(effect: str) -> str:
    return fill(
        "a second run would repeat a side effect of the program, {effect}; use --rerun to allow this", effect=effect
    )


def _format_grad_call_count_and_problem_free_page(page: ModelPage, call_count: int, is_problem_free: bool) -> str:
    seen = fill("{n} calls to torch.autograd.grad; how their results were used was not recorded", n=call_count)
    observed = fill("Observed: {what}.", what=seen)
    return f"{page}\n{observed}" if is_problem_free and page and not page.problems else observed
