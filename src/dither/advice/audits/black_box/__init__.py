"""Black-box audits of any randomiser: events are searched for on some samples and tested on others."""
