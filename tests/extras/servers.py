import dither as dt

pairing = dt.protocols.shuffle_pairs(4)
assert len(pairing.pairs) == 2
