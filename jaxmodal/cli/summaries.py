"""Groups of commands whose help has the whole first sentence of each command, on as many lines as it takes."""

from __future__ import annotations

import click

#: longer than any first sentence, which click would cut at the end of the line
_WHOLE = 1000


class SummarisedGroup(click.Group):
    """A group with whole sentences in its help; a second name of a command refers to the first."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the names of the commands with what each does."""
        first: dict[click.Command, str] = {}
        rows = []
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is None or command.hidden:
                continue
            known = first.setdefault(command, name)
            says = command.get_short_help_str(_WHOLE)
            rows.append((name, says if known == name else f"The same as {known}."))
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)
