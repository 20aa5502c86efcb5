"""Commands, called in this process."""

from click.testing import CliRunner


def called(main, *arguments, width=80):
    """The answer of a command, in lines of this width."""
    return CliRunner().invoke(main, [str(one) for one in arguments], env={"COLUMNS": str(width)})


def words(answer):
    """What a command printed, on one line."""
    return " ".join(answer.output.split())
