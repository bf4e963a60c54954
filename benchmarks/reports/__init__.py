"""Programs after public bug reports, with the truth about each, and what a judge said of the debugger's reports.

An author who had read only the documentation wrote the programs and ``truth.json``. They were sealed before the
debugger saw them. ``judged.json`` contains the marks of judges who did not know the debugger's code, with the commit
that they judged. As soon as somebody has used these programs to build the debugger, they no longer measure it.
"""
