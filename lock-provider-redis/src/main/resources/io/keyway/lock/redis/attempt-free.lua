-- The beginning of an attempt: where nobody holds, waits or has withdrawn, this is all. Texts go to the server as they are,
-- since it takes its time to write a number of Lua.
-- KEYS: holders, waiters, queue, tombstone of the request, floor of tokens
-- ARGV: id, ttl in milliseconds, mode (X, S or P) and permits, a semicolon and the owner; capacity; nothing not to queue, or
-- letters: q to queue, s if the client uses sharded channels too, g and what it calls this attempt if it takes a grant by
-- message; milliseconds for which the place is to be kept at least, if any
if redis.call('EXISTS', KEYS[1], KEYS[2], KEYS[4]) == 0 then
  local time = redis.call('TIME')
  local text = time[1] .. string.sub('00000' .. time[2], -6)
  local now = tonumber(text)
  local highest = redis.call('GETSET', KEYS[5], text)
  local token = now
  if highest and tonumber(highest) >= now then
    -- The clock was set back, or another grant was in the same microsecond.
    token = tonumber(highest) + 1
    redis.call('SET', KEYS[5], token)
  end
  if token < 9007199254740991 then
    local ttl = ARGV[2] * 1000
    redis.call('HSET', KEYS[1], ARGV[1], struct.pack('<dddd', token, now + ttl, now, ttl) .. ARGV[3])
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
    if ARGV[6] then
      redis.call('HSET', KEYS[1], ARGV[1] .. '=', string.format('%.0f', now + ARGV[6] * 1000))
      redis.call('PEXPIRE', KEYS[1], math.max(tonumber(ARGV[2]), tonumber(ARGV[6])))
    end
    return token
  end
end
