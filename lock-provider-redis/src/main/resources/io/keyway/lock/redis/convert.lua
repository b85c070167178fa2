-- Changes the mode of a grant in one step; otherwise as an attempt.
-- KEYS: holders, waiters, queue, tombstone of the request, floor of tokens
-- ARGV: id held, token held, id, mode (X or S), ttl in microseconds, 1 to queue, owner
-- Returns the new token; or {milliseconds to ask again within, how many are ahead, owners of holders...}; or
-- {-1, 0, owners...} if it is refused; or 'withdrawn'.
local held, id, mode, ttl = ARGV[1], ARGV[3], ARGV[4], tonumber(ARGV[5])
if redis.call('EXISTS', KEYS[4]) == 1 then
  return redis.status_reply('withdrawn')
end
local all = holding()
local converted = all and redis.call('HGET', holders, id)
if converted then
  local record = unpack_one(converted)
  if record[BROKEN] == '' then
    record[ENDS] = now() + ttl
    redis.call('HSET', holders, id, pack(record))
    keep(holders, ttl)
    return record[TOKEN]
  end
end
local found = all and redis.call('HGET', holders, held)
local record = found and unpack_one(found)
local upgrade = upgrading()
if not record or record[TOKEN] ~= tonumber(ARGV[2]) or record[BROKEN] ~= '' or (upgrade and upgrade[1] ~= id) then
  return owners({-1, 0})
end
if mode == 'X' and all[COUNT] > 1 then
  if ARGV[6] == '1' then
    upgrade = upgrade or {id, 0, now(), ttl, ARGV[7], held}
    upgrade[2] = now() + ttl
    redis.call('HSET', waiters, 'u', pack(upgrade))
    keep(waiters, ttl)
  end
  local within = math.min(ttl / 4, (all[NONE_BEFORE] - now()) * 4 / 3)
  return owners({math.ceil(within / 1000) + 1, all[COUNT]})
end
if upgrade then
  redis.call('HDEL', waiters, 'u')
end
local token = new_token(KEYS[5])
local before = record[MODE] == 'S' and held or ''
redis.call('HDEL', holders, held)
redis.call('HSET', holders, '#', pack({1, 1, mode, now() + ttl}),
  id, pack({mode, 1, token, now() + ttl, record[SINCE], ttl, ARGV[7], '', before, record[TOKEN], record[TTL]}))
keep(holders, ttl)
if mode == 'S' then
  -- A writer that has become a reader may leave room for others.
  wake({1, 1, mode, now() + ttl}, client_of(id))
end
return token
