-- Tells who holds and who waits; changes nothing.
-- KEYS: holders, waiters, queue, floor of tokens
-- Returns {holders, waiters, soft writers}, each a list of {mode, permits, token or 0, microseconds since, owner}; of a
-- soft writer since it asked or, if that was later, a reader was granted; of a holder also for how many microseconds the
-- lock is still kept, 0 if it is a grant in force, and by what its token is lifted.
local held, waiting, yielding = {}, {}, {}
each_holder(function(id, holder)
  local kept = is_no_grant(id) and holder[ENDS] or (holder[ENDS] <= now() and kept_until(id)) or now()
  if holder[ENDS] > now() or kept > now() then
    held[#held + 1] =
      {holder[MODE], holder[PERMITS], holder[TOKEN], now() - holder[SINCE], holder[OWNER], math.max(0, kept - now()),
        holder[LIFT]}
  end
end)
table.sort(held, function(a, b) return a[3] < b[3] end)
local upgrade = redis.call('HGET', waiters, 'u')
if upgrade then
  upgrade = unpack_one(upgrade)
  if upgrade[2] > now() then
    waiting[1] = {'X', 1, 0, now() - upgrade[3], upgrade[5]}
  end
end
for _, id in ipairs(redis.call('ZRANGE', queue, 0, -1)) do
  local found = redis.call('HGET', waiters, id)
  local waiter = found and unpack_one(found)
  if waiter and waiter[4] > now() then
    waiting[#waiting + 1] = {waiter[1], waiter[2], 0, now() - waiter[5], waiter[7]}
  end
end
local soft = soft_writers()
for _, writer in ipairs(soft and soft[2] or {}) do
  yielding[#yielding + 1] = {'X', 1, 0, now() - math.max(writer[3], soft[1]), writer[5]}
end
return {held, waiting, yielding}
