package engine_test

import (
	"context"

	"mediagen/internal/engine"
)

type doFunc = func(context.Context, engine.ImageCall, engine.ImageSink) (engine.ImageReply, error)

// answer sends each of the pictures in its slot.
func answer(pictures ...[]byte) doFunc {
	return func(_ context.Context, _ engine.ImageCall, sink engine.ImageSink) (engine.ImageReply, error) {
		for i, data := range pictures {
			if err := put(sink, engine.Slot{Index: i}, data); err != nil {
				return engine.ImageReply{}, err
			}
		}
		return engine.ImageReply{RequestID: "req_1", Pictures: len(pictures)}, nil
	}
}

// thenFail sends the pictures, then fails.
func thenFail(err error, pictures ...[]byte) doFunc {
	return func(ctx context.Context, call engine.ImageCall, sink engine.ImageSink) (engine.ImageReply, error) {
		reply, aerr := answer(pictures...)(ctx, call, sink)
		if aerr != nil {
			return reply, aerr
		}
		return reply, err
	}
}

// drawAll answers with as many pictures as were asked for.
func drawAll(_ context.Context, call engine.ImageCall, sink engine.ImageSink) (engine.ImageReply, error) {
	return draw(call, sink)
}

// during does something between payment and the pictures.
func during(something func()) doFunc {
	return func(_ context.Context, call engine.ImageCall, sink engine.ImageSink) (engine.ImageReply, error) {
		something()
		return draw(call, sink)
	}
}
