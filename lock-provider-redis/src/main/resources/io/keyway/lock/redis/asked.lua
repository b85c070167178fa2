-- The beginning of each attempt, which is idempotent by the id of the request: it may have been withdrawn, or granted
-- before. After token.lua, attempt-free.lua, which says KEYS and ARGV, and common.lua.
-- Returns the token, as a text where it is lifted; or {milliseconds to ask again within, how many are ahead, owners of
-- holders...}; or {-2, token as text} if its grant was broken; or 'withdrawn'.
local id, ttl, capacity = ARGV[1], ARGV[2] * 1000, tonumber(ARGV[4])
local mode, permits, owner = string.match(ARGV[3], '^(.)(%d+);(.*)$')
permits = tonumber(permits)
local at_least = ARGV[6] and ARGV[6] ~= '0' and ARGV[6] * 1000
local sharded, asked = string.find(ARGV[5], 's') ~= nil, string.match(ARGV[5], 'g(.+)')

if redis.call('EXISTS', KEYS[4]) == 1 then
  return redis.status_reply('withdrawn')
end
local all, changed = holding()
local mine, broken = holder_of(id)
if mine and not broken then
  mine[ENDS] = now() + ttl
  write(id, mine)
  return token_reply(mine[TOKEN], mine[LIFT])
elseif mine then
  -- Its client may believe: this attempt may be one that was lost, and comes late. So the break is told again.
  tell(client_of(id), 'B ' .. token_text(mine[TOKEN], mine[LIFT]) .. ' ' .. holders .. broken)
  if changed then
    wake(all)
  end
  return {-2, token_text(mine[TOKEN], mine[LIFT])}
end
