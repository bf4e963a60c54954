"""Whatever a block changes is undone at its end, even after an error or an interrupt."""

import pytest

from minitape.engine.record.interrupt_safe import make_interrupt_safe_context_manager


class ChangeByBlock:
    """A block that makes a change, with an interrupt at one of four places."""

    def __init__(self, where=None):
        self.where, self.on, self.kept = where, False, []

    def interrupt_at(self, where):
        if where == self.where:
            raise KeyboardInterrupt

    @property
    def block(self):
        @make_interrupt_safe_context_manager
        def change_for_block():
            self.interrupt_at("before")
            self.on = True
            try:
                yield self
            finally:
                self.on = False
                self.interrupt_at("after")

        return change_for_block()


@pytest.mark.parametrize("where", ["before", "inside", "after"])
def test_a_change_is_taken_back(where):
    change = ChangeByBlock(where)
    with pytest.raises(KeyboardInterrupt) as caught, change.block as given:
        assert given is change and change.on
        change.interrupt_at("inside")
    assert not change.on and caught.value is not None


@pytest.mark.parametrize("step", ["__enter__", "__exit__"])
def test_a_change_is_taken_back_at_once_where_the_block_is_not_reached(step):
    """The change is undone while the error, which keeps all objects alive, still exists."""
    change = ChangeByBlock()
    made = change.block
    inner = made._generator_context

    class Interrupted:
        def __enter__(self):
            made._generator_context = inner
            inner.__enter__()
            raise KeyboardInterrupt

        def __exit__(self, *error):
            made._generator_context = inner
            raise KeyboardInterrupt

    if step == "__exit__":
        Interrupted.__enter__ = lambda self: inner.__enter__()
    made._generator_context = Interrupted()
    with pytest.raises(KeyboardInterrupt) as caught, made:
        pass
    assert caught.value is not None and not change.on


def test_errors_go_through_the_function_and_may_end_there():
    @make_interrupt_safe_context_manager
    def forgiving():
        try:
            yield
        except ZeroDivisionError:
            seen.append("zero")

    seen = []
    with forgiving():
        raise ZeroDivisionError
    assert seen == ["zero"]
    with pytest.raises(KeyError), forgiving():
        raise KeyError
    assert forgiving.__name__ == "forgiving"
