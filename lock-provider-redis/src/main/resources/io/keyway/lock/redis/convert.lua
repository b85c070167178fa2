-- Changes the mode of a grant in one step; otherwise as an attempt.
-- KEYS: holders, waiters, queue, tombstone of the request, floor of tokens
-- ARGV: id, ttl in milliseconds, mode (X or S) and permits, a semicolon and the owner; id held, token held; how to
-- queue, as in an attempt; milliseconds for which the lock is to be kept at least, if any, 0 for none; by what tokens
-- are lifted, if the client knows of it
-- Returns the new token, as a text where it is lifted; or {milliseconds to ask again within, how many are ahead, owners
-- of holders...}; or {-1, 0, owners...} if it is refused; or 'withdrawn'.
local id, ttl, held = ARGV[1], ARGV[2] * 1000, ARGV[4]
local mode, owner = string.match(ARGV[3], '^(.)1;(.*)$')
if redis.call('EXISTS', KEYS[4]) == 1 then
  return redis.status_reply('withdrawn')
end
local all, changed = holding()
local converted, was_broken = holder_of(id)
if converted and not was_broken then
  converted[ENDS] = now() + ttl
  write(id, converted)
  return token_reply(converted[TOKEN], converted[LIFT])
end
local holder, broken = holder_of(held)
local upgrade, dropped = upgrading()
changed = changed or dropped
if not holder or holder[TOKEN] ~= tonumber(ARGV[5]) or broken or (upgrade and upgrade[1] ~= id) then
  if changed then
    wake(all)
  end
  return owners({-1, 0})
end
if mode == 'X' and all[COUNT] > 1 then
  if ARGV[6] ~= '' then
    upgrade = upgrade or {id, 0, now(), ttl, owner, held}
    upgrade[2], upgrade[7] = now() + ttl, string.find(ARGV[6], 's') ~= nil
    redis.call('HSET', waiters, 'u', pack(upgrade))
    keep(waiters, ttl)
  end
  local within = math.min(ttl / 4, (all[NONE_BEFORE] - now()) * 4 / 3)
  return owners({math.ceil(within / 1000) + 1, all[COUNT]})
end
if upgrade then
  redis.call('HDEL', waiters, 'u')
end
local token, lift = new_token(ARGV[8])
local kept = kept_until(held)
redis.call('HDEL', holders, held, held .. '^', held .. '=', '#')
write(id, {token, now() + ttl, holder[SINCE], ttl, mode, 1, owner, lift})
if mode == 'X' then
  redis.call('HSET', holders, id .. '^', pack({held, holder[TOKEN], holder[TTL], kept or false, holder[LIFT]}))
end
hold_at_least(id, holder[SINCE], ARGV[7] and ARGV[7] ~= '0' and ARGV[7] * 1000)
if mode == 'S' then
  reader_granted()
  -- A writer that has become a reader may leave room for others.
  wake({1, 1, mode, now() + ttl})
end
return token_reply(token, lift)
