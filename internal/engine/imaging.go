package engine

import "mediagen/internal/imaging"

// Imaging describes the build's imaging engine: its name, version, formats, and what it lacks.
type Imaging = imaging.Engine

// DescribeImaging returns the imaging engine of this build: its name and version, and in detail what it reads, writes
// and lacks, for which libvips has to be started.
func DescribeImaging(detail bool) Imaging {
	if detail {
		return imaging.Describe()
	}
	return imaging.Brief()
}
