// Package settings is octavo's configuration and credentials: one table of keys, the layers that give them values, the files
// they live in and the only code that writes those files. It knows no session, no provider's wire and no screen. What it
// hands out are values, and functions that get a key when one is needed; it starts nothing but the command that prints one.
//
// product.md 4 is what it implements, with decisions 1, 8, 12, 13, 14 and 19.
package settings
