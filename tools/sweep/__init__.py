"""Many compilations over a grid of chips and number formats: points, runners, results, plots."""
