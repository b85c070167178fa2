-- The attempt of a soft writer: it is granted when nobody holds the lock, nobody queues for it, and no reader was
-- granted for a time, and is in nobody's way until then. After asked.lua, which says what it returns; its mode is Y, and
-- in the place of the permits is the time without readers, in microseconds.
local quiet = permits
local soft = soft_writers() or {0, {}}
local waiter
for _, writer in ipairs(soft[2]) do
  waiter = writer[1] == id and writer or waiter
end
local begins = math.max(waiter and waiter[3] or now(), waiter and soft[1] or 0)
if not all and begins + quiet <= now() and not in_turn(all, function() return true end).first then
  drop_soft(id)
  local token, lift = new_token(ARGV[7])
  write(id, {token, now() + ttl, now(), ttl, 'X', 1, owner, lift})
  hold_at_least(id, now(), at_least)
  return token_reply(token, lift)
end

if ARGV[5] ~= '' then
  if not waiter then
    waiter = {id, 0, now(), ttl, owner, quiet}
    soft[2][#soft[2] + 1] = waiter
  end
  -- Heard of: it lives.
  waiter[2], waiter[7] = now() + ttl, sharded
  write_soft(soft)
  keep(waiters, ttl)
end
if changed or not all then
  all = wake(all)
end
local within = ttl / 4
local left = begins + quiet - now()
if left > 0 then
  within = math.min(within, left * 4 / 3)
elseif all then
  within = math.min(within, (all[NONE_BEFORE] - now()) * 4 / 3)
end
return owners({math.ceil(within / 1000) + 1, (all and all[COUNT] or 0) + redis.call('ZCARD', queue)})
