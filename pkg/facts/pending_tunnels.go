package facts

func readTunnels(*podView) []Tunnel { return nil }

func readCaptures(*podView) {}
