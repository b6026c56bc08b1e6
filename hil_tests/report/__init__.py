"""What a run on a rig leaves behind: measurements with limits, stories, traces, one HTML page.

    measurement.py  story.py     what a test says while it runs
    record.py                    all that is kept of one test
    evidence.py  witness.py      what the rig's own logs and a camera saw meanwhile
    header.py                    build, digests, station and operator of the run
    plugin.py                    pytest's side: shown while running, kept at the end
    standstill.py                timed tests again where the machine was late
    files.py                     the report's files, each whole or not there
    page.py  drawings.py         the report as one HTML file that needs nothing else
    html.py                      how templates are found and filled
    openhtf.py                   the report as a record for a laboratory's database
    trend.py                     measurements over many reports

Nothing here knows what is tested.
"""
