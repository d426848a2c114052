import dither as dt

coins = dt.protocols.local_pairs(dt.JRR(dt.Categories(["no", "yes"]), p=0.75, rho=-0.2, n=4))
assert len(coins) == 4
assert coins[0].apply("yes").question == coins[1].apply("no").question
