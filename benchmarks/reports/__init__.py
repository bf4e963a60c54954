"""Sets of programs after public bug reports, the truth about each, and what a judge said of the debugger's reports.

Each set is a folder. An author who had read only the documentation wrote its programs and its ``truth.json``. They were
sealed before the debugger saw them. ``judged.json`` contains the marks of judges who did not know the debugger's code,
with the commit that they judged. As soon as somebody has used the programs of a set to build the debugger, they no
longer measure it. Then a new set is due. ``docs/how_often_right.md`` shows the marks of the newest judged set.

A set without ``judged.json`` is still sealed. Run it once and let judges mark the reports before you read its programs.
"""
