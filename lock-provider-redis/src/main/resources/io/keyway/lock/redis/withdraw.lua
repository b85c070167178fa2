-- Takes a request out of the queue, or ends its grant, and leaves a tombstone: no later attempt of it succeeds.
-- KEYS: holders, waiters, queue, tombstone of the request, floor of tokens
-- ARGV: id, milliseconds that the tombstone stays
local id = ARGV[1]
-- A write that takes no memory comes first: a server that is full lets pass what follows it.
redis.call('DEL', KEYS[4])
redis.call('SET', KEYS[4], '', 'PX', ARGV[2])
local all, changed = holding()
local mine = holder_of(id)
local reader = mine and redis.call('HGET', holders, id .. '^')
if reader then
  -- Its client does not know of the upgrade: it is a reader again.
  reader = unpack_one(reader)
  write(reader[1], {reader[2], mine[ENDS], mine[SINCE], reader[3], 'S', 1, mine[OWNER], reader[5] or 0})
  forget(id)
  redis.call('HDEL', holders, '#')
  if reader[4] then
    hold_until(reader[1], reader[4])
  end
  all = {1, 1, 'S', mine[ENDS]}
  changed = true
elseif mine then
  all = unhold(all, id, mine[PERMITS])
  changed = true
end
local upgrade = redis.call('HGET', waiters, 'u')
if upgrade and unpack_one(upgrade)[1] == id then
  redis.call('HDEL', waiters, 'u')
  changed = true
elseif unqueue(id) == 1 or drop_soft(id) then
  changed = true
end
if changed then
  wake(all)
end
return 1
