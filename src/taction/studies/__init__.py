"""Studies: experiments that are run, measured and drawn. A scenario is one of them, a report shows one."""
