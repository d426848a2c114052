module dither

go 1.26
