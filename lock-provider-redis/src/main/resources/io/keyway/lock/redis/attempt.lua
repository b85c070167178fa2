-- Takes, queues, asks again and keeps a waiter alive. After asked.lua, which says what it returns.
local upgrade, waiter, dropped, turn, found = nil, nil, false, true, {}
if redis.call('EXISTS', waiters) == 1 then
  upgrade, dropped = upgrading()
  changed = changed or dropped
  waiter = redis.call('ZRANK', queue, id) and redis.call('HGET', waiters, id)
  if waiter then
    -- Heard of: it lives, however late it is.
    waiter = unpack_one(waiter)
    waiter[4], waiter[3], waiter[8], waiter[9], waiter[10], waiter[11] =
      now() + ttl, capacity, 0, sharded, asked or false, ARGV[7]
    redis.call('HSET', waiters, id, pack(waiter))
    turn = false
  end
  found = in_turn(all, function(other)
    turn = turn or other == id
    return other == id
  end)
  turn = turn and not upgrade and (waiter or (found.at_end and (mode ~= 'P' or capacity > found.refused)
    and fits(found.all, mode, permits, capacity)))
  changed = changed or found.dropped
else
  turn = fits(all, mode, permits, capacity)
end

if turn then
  if waiter then
    unqueue(id)
  end
  local token, lift = new_token(ARGV[7])
  write(id, {token, now() + ttl, now(), ttl, mode, permits, owner, lift})
  if all then
    all = {all[COUNT] + 1, all[OUT] + permits, mode, math.min(all[NONE_BEFORE], now() + ttl)}
    redis.call('HSET', holders, '#', pack(all))
  end
  hold_at_least(id, now(), at_least)
  if mode == 'S' then
    reader_granted()
  end
  if mode ~= 'X' then
    -- There may be room for the next, too.
    wake(all or {1, permits, mode, now() + ttl})
  end
  return token_reply(token, lift)
end

if ARGV[5] ~= '' then
  if not waiter then
    local last = redis.call('ZREVRANGE', queue, 0, 0, 'WITHSCORES')[2]
    redis.call('ZADD', queue, (last or 0) + 1, id)
    waiter = {mode, permits, capacity, now() + ttl, now(), ttl, owner, 0, sharded, asked or false, ARGV[7]}
    redis.call('HSET', waiters, id, pack(waiter))
    if mode == 'P' and found.first then
      states(capacity, found)
    end
    found.first = found.first or id
  end
  keep(waiters, ttl)
  keep(queue, ttl)
end
if changed or not all then
  -- What nobody holds any more may have gone by its own expiry, which nobody was told of.
  all = wake(all)
end
local within = ttl / 4
if found.first == id and all then
  -- The kit shortens it by up to a quarter.
  within = math.min(within, (all[NONE_BEFORE] - now()) * 4 / 3)
end
local ahead = (all and all[COUNT] or 0) + (upgrade and 1 or 0)
  + (waiter and redis.call('ZRANK', queue, id) or redis.call('ZCARD', queue))
return owners({math.ceil(within / 1000) + 1, ahead})
