"""From evidence to one parameter, or to a set of them."""
