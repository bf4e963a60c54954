"""Record the requested backward passes in a copy of the process, and send the findings back."""

from contextlib import AbstractContextManager, suppress
from math import inf, isfinite
from typing import NoReturn

from ...common.translation import format_error
from ..nonfinite_values import explain_origin_of_nonfinite_values
from ..run_watch.report import ProblemGroupList, build_problem_group, list_problem_groups
from ..run_watch.side_effects import SideEffects
from ..run_watch.waiting_copies import CopyRequest
from .ledger.run_watch import TorchRunWatch
from .raised_errors import explain_raised_error
from .recording import TorchRecording, record


class CopyWindow:
    """The window of backward passes that a copy records, and the copy's answer.

    Attributes:
        request: The request to answer.
        watch: The watch that observes the copy's run.
    """

    def __init__(self, request: CopyRequest, watch: TorchRunWatch, is_guarded: bool):
        """Prepare to record the requested passes.

        Args:
            request: The request.
            watch: The watch that observes the copy's run.
            is_guarded: Whether the copy must stop before its first side effect.
        """
        self.request = request
        self.watch = watch
        fields = request.fields
        self.kind: str = fields["kind"]
        self.low: int = fields["low"]
        self.high: float = fields.get("high") or inf
        self._block: AbstractContextManager[TorchRecording] | None = None
        self._recording: TorchRecording | None = None
        if self.kind == "trial":
            watch.measured_passes = frozenset([self.low])
        if is_guarded:
            SideEffects(self._answer_and_exit_before_effect).start_noticing()

    def _answer_and_exit_before_effect(self, effect: str) -> None:
        self.request.answer_and_exit({"stopped_by": effect})

    def update_recording_or_answer_after_pass(self, pass_number: int) -> None:
        """Open the recording before the window's first pass, and answer the request after the requested pass.

        Args:
            pass_number: The number of the pass that has just ended, or 0 before the first one.
        """
        if self.kind == "steps":
            if pass_number >= self.high:
                self._close_recording()
                self._explain_pass_then_answer_and_exit(pass_number)
        elif self._block is not None and self.kind != "error":
            self._close_recording()
            if pass_number >= self.high or (self.kind == "anomaly" and self._is_pass_nonfinite()):
                self._explain_pass_then_answer_and_exit(pass_number)
        if self._block is None and self.low - 1 <= pass_number < self.high:
            self._block = record()
            self._recording = self._block.__enter__()

    def explain_then_answer_and_exit_at_program_end(self, error: BaseException | None) -> None:
        """Answer the request when the program ends.

        Args:
            error: The error that ended the program, or None if it ended normally.
        """
        self._close_recording()
        self._explain_pass_then_answer_and_exit(self.watch.accounts.passes, error)

    def _close_recording(self) -> None:
        block = self._block
        self._block = None
        if block is not None:
            block.__exit__(None, None, None)

    def _is_pass_nonfinite(self) -> bool:
        """Return whether the last pass produced a non-finite value."""
        accounts = self.watch.accounts
        if not isfinite(accounts.losses[-1]):
            return True
        if accounts.scalers:
            return False
        gradients = [account.gradient for account in self.watch.tensor_accounts.values()]
        return not all(gradient is None or bool(gradient.isfinite().all()) for gradient in gradients)

    def _explain_pass_then_answer_and_exit(self, pass_number: int, error: BaseException | None = None) -> NoReturn:
        """Explain the recorded pass, answer the request, and end the copy.

        Args:
            pass_number: The number of the last recorded pass.
            error: The error that ended the program, if any.
        """
        problems: ProblemGroupList = []
        raised = None
        norms: dict[str, float] = {}
        if self._recording is not None:
            with suppress(Exception):
                if self.kind == "anomaly":
                    problems = self._list_nonfinite_problems(self._recording)
                elif self.kind == "steps":
                    problems = list_problem_groups(self._recording.explain())
                elif self.kind == "trial":
                    norms = self._map_names_to_norms_of_requested_pass(self._recording)
                elif error is not None:
                    explanation = explain_raised_error(self._recording, error)
                    raised = None if explanation is None else build_problem_group(explanation, [])
        self.request.answer_and_exit(
            {
                "pass": pass_number,
                "losses": list(self.watch.accounts.losses),
                "problems": [group._asdict() for group in problems],
                "raised": None if raised is None else raised._asdict(),
                "error": None if error is None else format_error(error),
                "norms": norms,
            }
        )

    def _map_names_to_norms_of_requested_pass(self, recording: TorchRecording) -> dict[str, float]:
        """Return the norms of the requested pass's gradients, keyed by parameter name.

        Args:
            recording: The recording of the pass.
        """
        names = {id(source): name for name, source in recording.collect_sources_meant_to_be_trained().items()}
        # These names are better if the recording does not include the model's forward pass.
        names |= self.watch.leaf_search.names
        norms = self.watch.norms_by_pass.get(self.low, {})
        return {names.get(key) or self.watch.find_name(key): norm for key, norm in norms.items()}

    def _list_nonfinite_problems(self, recording: TorchRecording) -> ProblemGroupList:
        groups = [group for group in list_problem_groups(recording.explain()) if group.kind == "nonfinite"]
        if not groups:
            explanation = explain_origin_of_nonfinite_values(recording)
            groups = [] if explanation is None else [build_problem_group(explanation, [])]
        return groups
