-- The beginning of a release: of a holder that was not broken, where nobody waits, this is all.
-- KEYS: holders, waiters, queue, floor of tokens
-- ARGV: id, token
local found = redis.call('HMGET', KEYS[1], ARGV[1], '#', ARGV[1] .. '!')
if not found[1] or struct.unpack('<d', found[1]) ~= tonumber(ARGV[2]) then
  return 0
end
local alone = not found[2] and not found[3]
if alone then
  redis.call('DEL', KEYS[1])
  if redis.call('EXISTS', KEYS[2]) == 0 then
    return 1
  end
elseif found[2] and not found[3] and redis.call('EXISTS', KEYS[2]) == 0 then
  local all = cmsgpack.unpack(found[2])
  if all[1] == 1 then
    redis.call('DEL', KEYS[1])
  else
    redis.call('HDEL', KEYS[1], ARGV[1], ARGV[1] .. '^', ARGV[1] .. '=')
    local left = {all[1] - 1, all[2] - string.match(found[1], '^%a(%d+)', 33), all[3], all[4]}
    redis.call('HSET', KEYS[1], '#', cmsgpack.pack(left))
  end
  return 1
end
