"""The tools of the Model Context Protocol over the API, for agents and editors. Only `server.py` knows the SDK."""
