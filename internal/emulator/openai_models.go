package emulator

import "net/http"

// emulatedModels are the ids that GET /v1/models lists. The image routes take any other id as well.
//
//nolint:gochecknoglobals // table
var emulatedModels = []modelEntry{
	{ID: "gpt-image-2.6-flare", Created: 1_793_750_400},
	{ID: "gpt-image-2.6-sunburst", Created: 1_793_750_400},
	{ID: "gpt-image-2.5-flare", Created: 1_788_825_600},
	{ID: "gpt-image-2.5-sunburst", Created: 1_788_825_600},
	{ID: "gpt-image-2", Created: 1_776_729_600},
	{ID: "gpt-image-1.5", Created: 1_765_843_200, Shutdown: new("2026-12-01")},
	{ID: "gpt-image-1-mini", Created: 1_759_708_800, Shutdown: new("2026-12-01")},
}

// modelEntry is one row of the list; shutdown_date is null for a model without an end.
type modelEntry struct {
	ID       string  `json:"id"`
	Object   string  `json:"object"`
	Created  int64   `json:"created"` // unix seconds
	OwnedBy  string  `json:"owned_by"`
	Shutdown *string `json:"shutdown_date"`
}

func openAIModelRoutes() []route {
	var routes []route
	for _, base := range []string{"", "/v1", "/openai/v1"} {
		routes = append(routes, route{pattern: "GET " + base + "/models", api: true, handle: listModels})
	}
	return routes
}

func listModels(x *exchange) {
	data := make([]modelEntry, 0, len(emulatedModels))
	for _, m := range emulatedModels {
		m.Object, m.OwnedBy = "model", "mediagen-emulator"
		data = append(data, m)
	}
	x.sendJSON(http.StatusOK, map[string]any{"object": "list", "data": data})
}
