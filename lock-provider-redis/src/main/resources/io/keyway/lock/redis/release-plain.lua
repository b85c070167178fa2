-- The beginning of a release: of a holder that is alone and was not broken, where nobody waits, this is all.
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
end
