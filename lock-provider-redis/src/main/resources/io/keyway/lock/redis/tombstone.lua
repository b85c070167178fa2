-- Leaves a tombstone: no later attempt of that request succeeds.
-- KEYS: tombstone of the request
-- ARGV: milliseconds that it stays
redis.call('SET', KEYS[1], '', 'PX', ARGV[1])
return 1
