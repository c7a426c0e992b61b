package engine

import (
	"mediagen/internal/catalog"
)

// price estimates the call and holds it against the cap, before anything is sent.
func (e *Engine) price(d *draft) error {
	d.priced = e.estimate(d, d.checked)
	d.estimate = estimateCost(d.priced)
	if d.provider.Name() == emulated {
		d.priced = catalog.Estimate{Known: true}
		d.estimate = Cost{Micros: new(int64), Basis: BasisEstimated}
	}
	limit := d.out.MaxCost
	if limit == nil {
		limit = e.cfg.Defaults.MaxCost
	}
	if limit == nil {
		return nil
	}
	if d.estimate.Micros == nil {
		if d.out.AllowUnknownCost {
			return nil
		}
		return Errorf(KindOverBudget, "cost_unknown", "the cost of this call is unknown (%s), so a cap cannot hold it",
			d.priced.Why).WithHint("--allow-unknown-cost sends it all the same")
	}
	if *d.estimate.Micros > *limit {
		return Errorf(KindOverBudget, "over_budget", "the call is estimated at %s, above the cap of $%s",
			d.estimate.amount(), Dollars(*limit)).WithHint("a cheaper quality, a smaller size or fewer pictures cost less")
	}
	return nil
}

func (e *Engine) estimate(d *draft, p catalog.ImageParams) catalog.Estimate {
	if d.foreign {
		return catalog.Estimate{Why: "what a gateway takes for another vendor's model is not known"}
	}
	return e.cfg.Catalog.EstimateImage(d.model.ID, p)
}

func estimateCost(p catalog.Estimate) Cost {
	if !p.Known {
		return Cost{Basis: BasisUnknown, Why: p.Why}
	}
	return Cost{Micros: &p.Micros, Basis: BasisEstimated, Assumed: p.Assumed}
}

// cost comes from reported usage, else from the table when everything went well, else it is unknown.
func (s *session) cost(reply ImageReply, err *Error) Cost {
	if s.d.provider.Name() == emulated && err == nil {
		return Cost{Micros: new(int64), Basis: BasisReported}
	}
	if s.d.call.OutputFormat == "svg" {
		// The usage that comes with an SVG is that of the picture model alone (provider-facts §7).
		return Cost{Basis: BasisUnknown, Why: "the model that writes the SVG is billed apart, at a rate that is not known"}
	}
	if reply.Usage.Reported && !s.d.foreign {
		if micros, ok := s.e.cfg.Catalog.CostOf(s.d.model.ID, tokensOf(reply.Usage)); ok {
			return Cost{Micros: &micros, Basis: BasisReported}
		}
	}
	switch {
	case err == nil:
		return s.resolved(reply)
	case err.Billed == BilledNo:
		return Cost{Basis: BasisUnknown, Why: "the provider refused the call and does not bill it"}
	}
	return Cost{Basis: BasisUnknown, Why: "the call did not end well"}
}

// resolved is the estimate, made again with what "auto" turned out to be.
func (s *session) resolved(reply ImageReply) Cost {
	if !s.d.priced.UpperBound || s.d.estimate.Micros == nil {
		return s.d.estimate
	}
	p := s.d.checked
	p.Size, p.Quality = orString(reply.Size, p.Size), orString(reply.Quality, p.Quality)
	if again := s.e.estimate(s.d, p); again.Known {
		return estimateCost(again)
	}
	return s.d.estimate
}

func tokensOf(u Usage) catalog.Tokens {
	return catalog.Tokens{
		In: u.InputTokens, TextIn: u.InputTextTokens, CachedTextIn: u.CachedTextTokens,
		ImageIn: u.InputImageTokens, CachedImageIn: u.CachedImageTokens,
		Out: u.OutputTokens, TextOut: u.OutputTextTokens, ImageOut: u.OutputImageTokens,
	}
}

func orString(a, b string) string {
	if a == "" {
		return b
	}
	return a
}
