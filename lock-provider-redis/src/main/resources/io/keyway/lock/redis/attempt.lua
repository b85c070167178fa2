-- Takes, queues, asks again and keeps a place alive: one script, idempotent by the id of the request.
-- KEYS: holders, waiters, queue, tombstone of the request, floor of tokens
-- ARGV: id, mode (X, S or P), permits, capacity, ttl in microseconds, 1 to queue, owner
-- Returns the token; or {milliseconds to ask again within, how many are ahead, owners of holders...}; or 'withdrawn'.
local id, mode, permits, capacity = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local ttl = tonumber(ARGV[5])

if redis.call('EXISTS', holders, waiters, KEYS[4]) == 0 then
  local token = new_token(KEYS[5])
  redis.call('HSET', holders, '#', pack({1, permits, mode, now() + ttl}),
    id, pack({mode, permits, token, now() + ttl, now(), ttl, ARGV[7], '', '', 0, 0}))
  redis.call('PEXPIRE', holders, math.ceil(ttl / 1000) + 1)
  return token
end

if redis.call('EXISTS', KEYS[4]) == 1 then
  return redis.status_reply('withdrawn')
end
local all, changed = holding()
local mine = all and redis.call('HGET', holders, id)
if mine then
  local record = unpack_one(mine)
  if record[BROKEN] == '' then
    record[ENDS] = now() + ttl
    redis.call('HSET', holders, id, pack(record))
    keep(holders, ttl)
    return record[TOKEN]
  end
  -- Broken before its answer arrived: nobody ever believed in it.
  all = unhold(all, id, record)
  changed = true
end

local upgrade, first, waiter = nil, nil, nil
if redis.call('EXISTS', waiters) == 1 then
  upgrade = upgrading()
  waiter = redis.call('ZRANK', queue, id) and redis.call('HGET', waiters, id)
  waiter = waiter and unpack_one(waiter)
  while not first do
    first = redis.call('ZRANGE', queue, 0, 0)[1]
    if not first then
      break
    end
    if first ~= id then
      local before = redis.call('HGET', waiters, first)
      if not before or unpack_one(before)[ENDS] <= now() then
        unqueue(first)
        first = nil
        changed = true
      end
    end
  end
end

if not upgrade and (first == id or not first) and fits(all, mode, permits, capacity) then
  if waiter then
    unqueue(id)
  end
  local token = new_token(KEYS[5])
  all = all or {0, 0, mode, now() + ttl}
  all = {all[COUNT] + 1, all[OUT] + permits, mode, math.min(all[NONE_BEFORE], now() + ttl)}
  redis.call('HSET', holders, '#', pack(all),
    id, pack({mode, permits, token, now() + ttl, now(), ttl, ARGV[7], '', '', 0, 0}))
  keep(holders, ttl)
  if mode ~= 'X' then
    -- There may be room for the next, too.
    wake(all, client_of(id))
  end
  return token
end

if ARGV[6] == '1' then
  if not waiter then
    local last = redis.call('ZREVRANGE', queue, 0, 0, 'WITHSCORES')[2]
    redis.call('ZADD', queue, (last or 0) + 1, id)
    waiter = {mode, permits, capacity, 0, now(), ttl, ARGV[7], 0}
    first = first or id
  end
  waiter[ENDS], waiter[CAPACITY], waiter[TOLD] = now() + ttl, capacity, 0
  redis.call('HSET', waiters, id, pack(waiter))
  keep(waiters, ttl)
  keep(queue, ttl)
end
if changed and first ~= id then
  wake(all, client_of(id))
end
local within = ttl / 4
if first == id and all then
  -- The kit shortens it by up to a quarter.
  within = math.min(within, (all[NONE_BEFORE] - now()) * 4 / 3)
end
local ahead = (all and all[COUNT] or 0) + (upgrade and 1 or 0)
  + (waiter and redis.call('ZRANK', queue, id) or redis.call('ZCARD', queue))
return owners({math.ceil(within / 1000) + 1, ahead})
