"""What a run on a rig leaves behind: measurements with limits, stories, traces, one HTML page.

    measurement.py  story.py     what a test says while it runs
    evidence.py  witness.py      what the rig's own logs and a camera saw meanwhile
    plugin.py                    pytest's side: shown while running, kept at the end
    page.py  drawings.py         the report as one HTML file that needs nothing else
    compare.py                   two reports side by side

Nothing here knows what is tested.
"""
