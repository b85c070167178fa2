-- Ends the place and the grant of a request, and leaves a tombstone: no later attempt of it succeeds.
-- KEYS: holders, waiters, queue, tombstone of the request
-- ARGV: id, milliseconds that the tombstone stays
local id = ARGV[1]
-- A write that takes no memory comes first: a server that is full lets pass what follows it.
redis.call('DEL', KEYS[4])
redis.call('SET', KEYS[4], '', 'PX', ARGV[2])
local all, changed = holding()
local mine = all and redis.call('HGET', holders, id)
if mine then
  local record = unpack_one(mine)
  if record[READER] ~= '' and record[MODE] == 'X' then
    -- Its client does not know of the upgrade: it is a reader again.
    local reader = {'S', 1, record[READER_TOKEN], record[ENDS], record[SINCE], record[READER_TTL], record[OWNER], '', '', 0, 0}
    redis.call('HDEL', holders, id)
    redis.call('HSET', holders, '#', pack({1, 1, 'S', record[ENDS]}), record[READER], pack(reader))
    all = {1, 1, 'S', record[ENDS]}
  else
    all = unhold(all, id, record)
  end
  changed = true
end
local upgrade = redis.call('HGET', waiters, 'u')
if upgrade and unpack_one(upgrade)[1] == id then
  redis.call('HDEL', waiters, 'u')
  changed = true
elseif redis.call('ZREM', queue, id) == 1 then
  redis.call('HDEL', waiters, id)
  changed = true
end
if changed then
  wake(all, client_of(id))
end
return 1
