// Package engine is what mediagen does: requests and results, validation against the catalog, the order in which a paid
// job is planned, journalled, sent, received and saved, and the meaning of every failure.
//
// It does not parse flags, speak MCP, read configuration files, print or exit, and it knows no vendor's wire format:
// the command line, the MCP server and the providers translate to and from its types.
package engine
