"""The best possible mechanism: known in closed form, solved, compared, recommended."""
