"""Setting up the agents and editors that speak the Model Context Protocol: our entry in their configuration files."""
