package dither

import (
	"math/big"

	"dither/internal/bridge"
)

func init() {
	bridge.Parse = func(text string) (value any, err error) {
		defer catch(&err)
		return parse(text), nil
	}
	bridge.Write = write
	bridge.Daily = func(inquiry any) {
		if asked := inquiry.(*Inquiry).asked; asked["repeat"] == "once" {
			asked["days"], asked["start"] = 1.0, 0.0
			delete(asked, "every")
		}
	}
	bridge.Totals = func(epsilon float64, times int) float64 {
		return timesUp(new(big.Rat).SetFloat64(epsilon), int64(times))
	}
}
