"""Commands of ``jaxmodal`` in this process, and what a refusal looks like."""

from click.testing import CliRunner

from jaxmodal.cli.commands import main


def run_command(*words, **options):
    """What ``jaxmodal`` with these words prints, its exit status and its exception."""
    return CliRunner().invoke(main, [str(word) for word in words], **options)


def sweep_command(*words):
    return run_command("sweep", *words)


def assert_refused(result, *words):
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    for word in words:
        assert word in result.stderr
