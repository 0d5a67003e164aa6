"""The explorer: an arm in a page of the browser."""
