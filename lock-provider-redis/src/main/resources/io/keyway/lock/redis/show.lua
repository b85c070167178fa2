-- Tells who holds and who waits; changes nothing.
-- KEYS: holders, waiters, queue
-- Returns {holders, waiters}, each a list of {mode, permits, token or 0, microseconds since, owner}.
local held, waiting = {}, {}
local records = redis.call('HGETALL', holders)
for i = 1, #records, 2 do
  if records[i] ~= '#' then
    local record = unpack_one(records[i + 1])
    if record[ENDS] > now() then
      held[#held + 1] = {record[MODE], record[PERMITS], record[TOKEN], now() - record[SINCE], record[OWNER]}
    end
  end
end
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
  if waiter and waiter[ENDS] > now() then
    waiting[#waiting + 1] = {waiter[MODE], waiter[PERMITS], 0, now() - waiter[SINCE], waiter[OWNER]}
  end
end
return {held, waiting}
