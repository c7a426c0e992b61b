package engine

import (
	"context"
	"errors"

	"mediagen/internal/fault"
)

// kindOf maps the leaf packages' codes to kinds. It is the only place that does.
func kindOf(code fault.Code) Kind {
	switch code {
	case fault.InvalidURL, fault.UnsupportedURLScheme, fault.InvalidImage, fault.InvalidBase64, fault.PathInvalid,
		fault.NotRegular, fault.InvalidArgument, fault.InvalidRequest, fault.TextOnlyTool:
		return KindInvalidRequest
	case fault.ConstraintUnmet:
		return KindConstraint
	case fault.URLNotAllowed, fault.SSRFDenied, fault.PortDenied, fault.RedirectDenied, fault.EncodingDenied,
		fault.ItemTooLarge, fault.RequestTooLarge, fault.TooManyItems, fault.AudioTooLong, fault.PixelsExceeded,
		fault.FramesExceeded, fault.MIMEDenied, fault.MIMEMismatch, fault.PathDenied:
		return KindPolicyDenied
	case fault.DNSFailed, fault.FetchTimeout, fault.FetchFailed, fault.FetchTruncated:
		return KindUnavailable
	case fault.NotFound, fault.JobNotFound:
		return KindNotFound
	case fault.Exists:
		return KindExists
	case fault.PolicyInvalid, fault.ConfigInvalid:
		return KindConfig
	case fault.UnsupportedModality, fault.UnsupportedOperation:
		return KindUnsupported
	default: // read_only, disk_full, io_failed, journal_broken
		return KindFailure
	}
}

// AsError returns err as an *Error: as it is, translated from a fault, or as a plain failure. Local work that the
// caller broke off is interrupted, whatever the part that noticed calls it. AsError returns nil for nil.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	out := &Error{Kind: KindFailure, Code: "failed", Message: err.Error(), Billed: BilledNo, cause: err}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		out.Kind, out.Code, out.Message, out.Hint = kindOf(f.Code), f.Code, f.Message, f.Hint
	}
	if out.Kind == KindFailure && errors.Is(err, context.Canceled) {
		out.Kind, out.Code = KindInterrupted, "interrupted"
	}
	return out
}
