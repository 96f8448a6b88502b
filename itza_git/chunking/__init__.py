"""From the bytes of a file to chunks: `chunk(data, language)`."""
