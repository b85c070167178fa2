-- Lets the ttl of a grant begin anew, if it is in force, by its id and token.
-- KEYS: holders
-- ARGV: id, token, ttl in milliseconds
-- Returns 1 if it did, 0 if the grant is not in force, or {reason} if it was broken.
local found = redis.call('HMGET', KEYS[1], ARGV[1], ARGV[1] .. '!', ARGV[1] .. '^')
if not found[1] then
  return 0
end
local token, ends, since, before = struct.unpack('<dddd', found[1])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
if token ~= tonumber(ARGV[2]) or ends <= now then
  return 0
end
if found[2] then
  return {found[2]}
end
-- The key's term comes first: that takes no memory, and a server that is full lets pass what follows a write.
redis.call('PEXPIRE', KEYS[1], math.max(redis.call('PTTL', KEYS[1]), tonumber(ARGV[3])))
local times = struct.pack('<dddd', token, now + ARGV[3] * 1000, since, before)
redis.call('HSET', KEYS[1], ARGV[1], times .. string.sub(found[1], 33))
if found[3] then
  redis.call('HDEL', KEYS[1], ARGV[1] .. '^')
end
return 1
