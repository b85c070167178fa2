-- Breaks the grant of that token, and tells its client why. Its record stays until the client has answered by a
-- release, or its ttl has passed. A lock that is kept and no grant any more is free at once.
-- KEYS: holders, waiters, queue, floor of tokens
-- ARGV: token, reason; by what the token is lifted
-- Returns 1 if it did, 0 if no such grant is in force.
local all, changed = holding()
local done = 0
each_holder(function(id, holder)
  if holder[TOKEN] ~= tonumber(ARGV[1]) or holder[LIFT] ~= tonumber(ARGV[3]) or holder[ENDS] <= now() then
    return
  end
  if is_no_grant(id) then
    all, changed, done = unhold(all, id, holder[PERMITS]), true, 1
  elseif redis.call('HEXISTS', holders, id .. '!') == 0 then
    redis.call('HSET', holders, id .. '!', ARGV[2])
    tell(client_of(id), 'B ' .. token_text(holder[TOKEN], holder[LIFT]) .. ' ' .. holders .. ARGV[2])
    done = 1
  end
end)
if changed then
  wake(all)
end
return done
