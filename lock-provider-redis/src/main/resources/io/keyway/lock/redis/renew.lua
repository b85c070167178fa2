-- Lets the ttl of a grant begin anew, if it is in force, by its id and token.
-- KEYS: holders
-- ARGV: id, token, ttl in microseconds
-- Returns 1 if it did, 0 if the grant is not in force, or {reason} if it was broken.
local found = redis.call('HGET', holders, ARGV[1])
if not found then
  return 0
end
local record = unpack_one(found)
if record[TOKEN] ~= tonumber(ARGV[2]) or record[ENDS] <= now() then
  return 0
end
if record[BROKEN] ~= '' then
  return {string.sub(record[BROKEN], 2)}
end
local ttl = tonumber(ARGV[3])
record[ENDS], record[READER] = now() + ttl, ''
-- The key's term comes first: that takes no memory, and a server that is full lets pass what follows a write.
redis.call('PEXPIRE', holders, math.max(redis.call('PTTL', holders), math.ceil(ttl / 1000) + 1))
redis.call('HSET', holders, ARGV[1], pack(record))
return 1
