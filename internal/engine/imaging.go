package engine

import "mediagen/internal/imaging"

// Imaging describes the build's imaging engine: its name, version, formats, and what it lacks.
type Imaging = imaging.Engine

// DescribeImaging returns the imaging engine of this build.
func DescribeImaging() Imaging { return imaging.Describe() }
