package main

// refusePrompts refuses what stands on the command line: in rpc mode the client says everything on standard input (product.md 1.1).
func refusePrompts(args []string) error {
	if len(args) > 0 {
		return usagef("--mode rpc takes no prompt, not %q either: send it as a request (octavo help rpc)", args[0])
	}
	return nil
}
