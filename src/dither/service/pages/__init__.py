"""The page of a campaign: drawn on the server, kept up to date by server-sent events, without a framework."""
