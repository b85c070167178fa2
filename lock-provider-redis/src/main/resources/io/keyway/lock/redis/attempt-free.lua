-- The beginning of an attempt: where nobody holds, waits or has withdrawn, this is all.
-- KEYS: holders, waiters, queue, tombstone of the request, floor of tokens
-- ARGV: id; ttl in milliseconds; mode (X, S or P) and permits, a semicolon and the owner; capacity; empty not to queue,
-- or letters: q to queue, s if the client uses sharded channels too, g and the name of this attempt if a message may
-- grant it; milliseconds for which the lock is to be kept at least, if any, 0 for none; the lift of tokens, if the
-- client knows of one
if redis.call('EXISTS', KEYS[1], KEYS[2], KEYS[4]) == 0 then
  local token, lift = new_token(ARGV[7])
  local ttl = ARGV[2] * 1000
  local rest = lift > 0 and string.gsub(ARGV[3], ';', ',' .. lift .. ';', 1) or ARGV[3]
  redis.call('HSET', KEYS[1], ARGV[1], struct.pack('<dddd', token, now() + ttl, now(), ttl) .. rest)
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  if ARGV[6] and ARGV[6] ~= '0' then
    redis.call('HSET', KEYS[1], ARGV[1] .. '=', string.format('%.0f', now() + ARGV[6] * 1000))
    redis.call('PEXPIRE', KEYS[1], math.max(tonumber(ARGV[2]), tonumber(ARGV[6])))
  end
  return token_reply(token, lift)
end
