-- The beginning of an attempt: where nobody waits or has withdrawn, and nobody holds or there is room beside those who
-- do, this is all.
-- KEYS: holders, waiters, queue, tombstone of the request, floor of tokens
-- ARGV: id; ttl in milliseconds; mode (X, S or P) and permits, a semicolon and the owner; capacity; empty not to queue,
-- or letters: q to queue, s if the client uses sharded channels too, g and the name of this attempt if a message may
-- grant it; milliseconds for which the lock is to be kept at least, if any, 0 for none; the lift of tokens, if the
-- client knows of one
local present = redis.call('EXISTS', KEYS[1], KEYS[2], KEYS[4])
if present == 0 then
  local token, lift = new_token(ARGV[7])
  local ttl = ARGV[2] * 1000
  local rest = lift > 0 and string.gsub(ARGV[3], ';', ',' .. lift .. ';', 1) or ARGV[3]
  redis.call('HSET', KEYS[1], ARGV[1], struct.pack('<dddd', token, now() + ttl, now(), ttl) .. rest)
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  if ARGV[6] and ARGV[6] ~= '0' then
    redis.call('HSET', KEYS[1], ARGV[1] .. '=', string.format('%.0f', now() + ARGV[6] * 1000))
    redis.call('PEXPIRE', KEYS[1], math.max(tonumber(ARGV[2]), tonumber(ARGV[6])))
  end
  return token_reply(token, lift)
elseif present == 1 and string.sub(ARGV[3], 1, 1) ~= 'X' and (ARGV[6] or '0') == '0' then
  -- If there is '#' (see common.lua), the key that is present is that of the holders.
  local found = redis.call('HMGET', KEYS[1], '#', ARGV[1])
  local all = found[1] and not found[2] and cmsgpack.unpack(found[1])
  local mode, permits = string.match(ARGV[3], '^(.)(%d+)')
  if all and now() < all[4]
    and ((mode == 'S' and all[3] == 'S') or (mode == 'P' and all[2] + permits <= tonumber(ARGV[4]))) then
    local token, lift = new_token(ARGV[7])
    local ttl = ARGV[2] * 1000
    local rest = lift > 0 and string.gsub(ARGV[3], ';', ',' .. lift .. ';', 1) or ARGV[3]
    redis.call('HSET', KEYS[1], ARGV[1], struct.pack('<dddd', token, now() + ttl, now(), ttl) .. rest, '#',
      cmsgpack.pack({all[1] + 1, all[2] + permits, mode, math.min(all[4], now() + ttl)}))
    if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
      redis.call('PEXPIRE', KEYS[1], ARGV[2])
    end
    return token_reply(token, lift)
  end
end
