-- The beginning of an attempt: where nobody holds, waits or has withdrawn, this is all. Texts go to the server as they are,
-- since it takes its time to write a number of Lua.
-- KEYS: holders, waiters, queue, tombstone of the request, floor of tokens
-- ARGV: id, ttl in milliseconds, mode (X, S or P) and permits, a semicolon and the owner; capacity; nothing not to queue, or
-- letters: q to queue, s if the client uses sharded channels too, g and what it calls this attempt if it takes a grant by
-- message; milliseconds for which the place is to be kept at least, if any, 0 for none; by what tokens are lifted, if the
-- client knows of it
if redis.call('EXISTS', KEYS[1], KEYS[2], KEYS[4]) == 0 then
  local time = redis.call('TIME')
  local text = time[1] .. string.sub('00000' .. time[2], -6)
  local now = tonumber(text)
  local lift = ARGV[7]
  local highest = redis.call('GETSET', KEYS[5], lift and text .. '+' .. lift or text)
  local token = now
  if highest and (tonumber(highest) or now) >= now then
    -- The clock was set back, another grant was in the same microsecond, or tokens are lifted.
    local number, lifted = string.match(highest, '^(%d+)%+?(%d*)$')
    token = math.max(now, tonumber(number) + 1)
    if lifted ~= '' and tonumber(lifted) > (tonumber(lift) or 0) then
      lift = lifted
    end
    if token > now or lift ~= ARGV[7] then
      -- By the same command as above: a user who may not use another would stop here, with the lift taken away.
      redis.call('GETSET', KEYS[5], string.format('%.0f', token) .. (lift and '+' .. lift or ''))
    end
  end
  if token < 9007199254740991 then
    local ttl = ARGV[2] * 1000
    local what = lift and string.gsub(ARGV[3], ';', ',' .. lift .. ';', 1) or ARGV[3]
    redis.call('HSET', KEYS[1], ARGV[1], struct.pack('<dddd', token, now + ttl, now, ttl) .. what)
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
    if ARGV[6] and ARGV[6] ~= '0' then
      redis.call('HSET', KEYS[1], ARGV[1] .. '=', string.format('%.0f', now + ARGV[6] * 1000))
      redis.call('PEXPIRE', KEYS[1], math.max(tonumber(ARGV[2]), tonumber(ARGV[6])))
    end
    return lift and redis.status_reply(string.format('%.0f', token) .. '+' .. lift) or token
  end
end
