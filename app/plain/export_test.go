package plain

// Commands are the names of what RPC takes.
func Commands() (names []string) {
	for _, v := range verbs {
		names = append(names, v.name)
	}
	return names
}
