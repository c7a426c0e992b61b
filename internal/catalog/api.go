// Package catalog knows the models.
package catalog

import (
	"time"

	"mediagen/internal/fault"
)

type SizeRule struct{}
type Catalog struct{}

func New(user []byte) (*Catalog, error)                          { return &Catalog{}, nil }
func NewNamed(name string, user []byte) (*Catalog, error)        { return &Catalog{}, nil }
func (c *Catalog) Lookup(id string) (Model, bool)                { return Model{}, false }
func (c *Catalog) Resolve(id string) (m Model, known bool)       { return Model{}, false }
func (c *Catalog) All(kind, provider string) []Model             { return nil }
func (c *Catalog) Default(provider, kind, op string) string      { return "" }
func (c *Catalog) ProviderOf(id string) (string, bool)           { return "", false }
func (c *Catalog) Words(param string) []string                   { return nil }
func (c *Catalog) WordsOf(kind, provider, param string) []string { return nil }

type ImageParams struct {
	Op, Prompt, Size, AspectRatio, Quality, Background, Moderation, OutputFormat, Complexity, InputFidelity string
	N, Partials, FrameCount, FrameDurationMS, Inputs                                                        int
	OutputCompression                                                                                       *int
	Stream, Mask, Markup                                                                                    bool
	SVGModel, SVGEffort                                                                                     string
}

func (m Model) CheckImage(r ImageParams) []*fault.Error        { return nil }
func (m Model) Warnings(r ImageParams, now time.Time) []string { return nil }

type Estimate struct {
	Micros                     int64
	Known, Assumed, UpperBound bool
	Why, Source, AsOf          string
}
type VideoParams struct {
	Size    string
	Seconds int
	N       int
}

func (c *Catalog) EstimateImage(model string, p ImageParams) Estimate { return Estimate{} }
func (c *Catalog) EstimateVideo(model string, p VideoParams) Estimate { return Estimate{} }

type Tokens struct {
	In, TextIn, CachedTextIn, ImageIn, CachedImageIn int64
	Out, TextOut, ImageOut                           int64
}

func (c *Catalog) CostOf(model string, t Tokens) (micros int64, known bool) { return 0, false }
