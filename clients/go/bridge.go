package dither

import (
	"context"
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
	bridge.Present = func(ctx context.Context, device, campaign, value any, labels bool) (any, error) {
		return device.(*Device).present(ctx, campaign.(*Campaign), value, labels)
	}
	bridge.Shown = func(campaign, address, relay any) (string, map[string]any) {
		return campaign.(*Campaign).shown(address, relay)
	}
	bridge.Asked = func(device any) { device.(*Device).asked = true }
	bridge.Covers = func(record map[string]any, campaign any) bool { return campaign.(*Campaign).isCovered(record) }
	bridge.Totals = func(epsilon float64, times int) float64 {
		return timesUp(new(big.Rat).SetFloat64(epsilon), int64(times))
	}
}
