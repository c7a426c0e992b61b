// Package journal keeps one durable row per paid call, so that nothing paid is lost and nothing is paid twice: the row
// is on disk before the request leaves, every later step is one checked transition, and a job can be found, resumed and
// accounted for after a crash, by any process.
//
// It is a SQLite file shared by all mediagen processes of a user. It does not send requests, poll, save or delete media
// files, compute prices, or decide what a failure means: the engine does. Params, usage and error messages are stored
// as given, so they must carry no key, no base64 and no signed URL.
package journal
