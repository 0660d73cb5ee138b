// Package settings is octavo's configuration and credentials: one table of keys, the layers that give them values, the files
// they live in and the only code that writes those files. It knows no session, no provider's wire and no screen, and it starts
// nothing: what it hands out are values, and functions that read a key when one is needed.
//
// product.md 4 is what it implements, with decisions 1, 8, 12, 13, 14 and 19.
package settings
