-- Ends a grant, if it is in force, by its id and token, and keeps the lock for what is left of the time for which it is
-- to be kept at least.
-- KEYS: holders, waiters, queue, floor of tokens
-- ARGV: id, token
-- Returns as a release.
local all, changed = holding()
local mine, broken = holder_of(ARGV[1])
if not mine or mine[TOKEN] ~= tonumber(ARGV[2]) then
  if changed then
    wake(all)
  end
  return 0
end
local kept = kept_until(ARGV[1])
if kept then
  keep_lock(ARGV[1], mine, kept)
  if redis.call('HEXISTS', holders, '#') == 1 then
    all[NONE_BEFORE] = math.min(all[NONE_BEFORE], kept)
    redis.call('HSET', holders, '#', pack(all))
  end
  if changed then
    -- There is room of others, whose time was over.
    wake(all)
  end
  return 1
end
wake(unhold(all, ARGV[1], mine[PERMITS]))
return broken and 0 or 1
