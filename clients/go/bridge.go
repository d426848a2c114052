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
		if query := inquiry.(*Inquiry).query; query["repeat"] == "once" {
			query["days"], query["start"] = 1.0, 0.0
			delete(query, "every")
		}
	}
	bridge.Totals = func(epsilon float64, times int) float64 {
		return timesUp(new(big.Rat).SetFloat64(epsilon), int64(times))
	}
}
