-- Adds one to a counter and returns it.
return redis.call('INCR', KEYS[1])
