package engine

import (
	"slices"

	"mediagen/internal/catalog"
	"mediagen/internal/fault"
)

// ModelInfo is a row of the catalog with its state at the engine's clock.
type ModelInfo struct {
	catalog.Model
	Status string `json:"status"` // current, retiring, retired
	Served bool   `json:"served"` // a provider of this build makes such media; false for what a later release brings
}

// Models lists the catalog. Empty kind and provider select all; retired rows only with all.
func (e *Engine) Models(kind, provider string, all bool) []ModelInfo {
	rows := []ModelInfo{}
	now := e.cfg.Now()
	for _, m := range e.cfg.Catalog.All(kind, provider) {
		status := m.Status(now)
		if status == catalog.StatusRetired && !all {
			continue
		}
		rows = append(rows, e.modelInfo(m))
	}
	return rows
}

// Model returns one row by id or alias.
func (e *Engine) Model(id string) (ModelInfo, error) {
	m, ok := e.cfg.Catalog.Lookup(id)
	if !ok {
		return ModelInfo{}, AsError(fault.New(fault.NotFound, "model %s is not in the catalog", field(id)).
			WithHint("see the known ones with: mediagen models list --all"))
	}
	return e.modelInfo(m), nil
}

func (e *Engine) modelInfo(m catalog.Model) ModelInfo {
	served := m.Kind == "image" && slices.ContainsFunc(e.cfg.Providers.Names(), func(name string) bool {
		return vendor(name) == m.Provider
	})
	return ModelInfo{Model: m, Status: string(m.Status(e.cfg.Now())), Served: served}
}
