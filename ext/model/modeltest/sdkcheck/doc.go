// Package sdkcheck holds octavo's adapters and the scripted server against the official clients: these decode the server's streams, and
// what octavo sends, and have to agree on every field. It is a module of its own, so that what it needs never becomes a need of
// octavo; it has tests only.
package sdkcheck
