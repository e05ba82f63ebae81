"""The service: a REST interface to saved models, and the indexer's page on top of it."""
