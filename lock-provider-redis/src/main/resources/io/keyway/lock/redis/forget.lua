-- Forgets what does not end by itself, of a place for tests that is over.
-- KEYS: floor of tokens, or the highest floor that was given
-- Returns how many keys there were.
return redis.call('DEL', KEYS[1])
