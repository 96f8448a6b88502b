"""From a question and a tree to ranked passages: `corpus`, `question`, `lexical`, `dense`, `ranking`, `retrieval`."""
