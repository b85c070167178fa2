-- What the scripts of one name share: its records, its queue, and who is told. After token.lua.
--   holders  hash: by request id a record of token, end, since and ttl, four doubles, then mode (X, S or P) and
--            permits, if its token is lifted a comma and the lift, a semicolon and the owner; by id and '!' why it was
--            broken; by id and '^' {id, token, ttl, kept until, lift} of the reader that an upgraded holder was, until
--            a renewal shows that its client knows of the upgrade; by id and '=' until when the lock is to be kept at
--            least; by '=' and token the record of a lock that is kept and no grant any more; and unless one is alone,
--            '#' {how many, permits out, mode, none of them ends before}
--   waiters  hash: by request id {mode, permits, capacity, end, since, ttl, owner, told, sharded, asked, lift that its
--            client knows of if it does}, and 'u' for the reader that waits to become the writer: {id, end, since, ttl,
--            owner, id that it holds by, sharded}
--   queue    sorted set of the ids of waiters but the upgrade, by arrival
-- Times are microseconds of the server. A request id is the client's incarnation, a colon and a number.
local holders, waiters, queue = KEYS[1], KEYS[2], KEYS[3]
local TOKEN, ENDS, SINCE, TTL, MODE, PERMITS, OWNER, LIFT = 1, 2, 3, 4, 5, 6, 7, 8
local COUNT, OUT, KIND, NONE_BEFORE = 1, 2, 3, 4
local pack, unpack_one = cmsgpack.pack, cmsgpack.unpack

-- Keeps a key for that long at least.
local function keep(key, micros)
  local millis = math.ceil(micros / 1000)
  if redis.call('PTTL', key) < millis then
    redis.call('PEXPIRE', key, millis)
  end
end

local function client_of(id)
  return string.sub(id, 1, string.find(id, ':', 1, true) - 1)
end

local function number_of(id)
  return string.sub(id, string.find(id, ':', 1, true) + 1)
end

-- Sends a client a message by its own channel, which in a cluster goes to all servers; if it uses sharded channels and
-- listens to that of this name here, by that one alone. It goes on if the user may not send any: a message is a hint,
-- and what a script has done before it is done.
local function tell(client, message, sharded)
  if sharded then
    local listening = redis.pcall('SPUBLISH', string.match(holders, '^[^}]*}') .. ':c:' .. client, message)
    if type(listening) == 'number' and listening > 0 then
      return
    end
  end
  redis.pcall('PUBLISH', string.match(holders, '^[^{]*') .. 'c:' .. client, message)
end

local function read(record)
  local token, ends, since, ttl = struct.unpack('<dddd', record)
  local mode, permits, lift, owner = string.match(record, '^(.)(%d+),?(%d*);(.*)$', 33)
  return {token, ends, since, ttl, mode, tonumber(permits), owner, tonumber(lift) or 0}
end

local function write(id, holder)
  redis.call('HSET', holders, id, struct.pack('<dddd', holder[TOKEN], holder[ENDS], holder[SINCE], holder[TTL])
    .. holder[MODE] .. string.format('%.0f', holder[PERMITS]) .. (holder[LIFT] > 0 and ',' .. holder[LIFT] or '') .. ';'
    .. holder[OWNER])
end

-- Calls the action with id and record of each holder.
local function each_holder(action)
  local fields = redis.call('HGETALL', holders)
  for i = 1, #fields, 2 do
    if string.find(fields[i], '%d$') then
      action(fields[i], read(fields[i + 1]))
    end
  end
end

local function forget(id)
  redis.call('HDEL', holders, id, id .. '!', id .. '^', id .. '=')
end

-- The lock is to be kept for so long at least after a grant made at that time; nothing if it is nil or false.
local function hold_at_least(id, since, micros)
  if micros then
    redis.call('HSET', holders, id .. '=', string.format('%.0f', since + micros))
    keep(holders, since + micros - now())
  end
end

-- Until when the lock is kept if the grant of that holder ends now; nil if it is not.
local function kept_until(id)
  local kept = tonumber(redis.call('HGET', holders, id .. '=') or nil)
  return kept and kept > now() and redis.call('HEXISTS', holders, id .. '!') == 0 and kept or nil
end

-- The grant is over, and the lock is kept until then: no message that names the grant finds it.
local function keep_lock(id, holder, ends)
  forget(id)
  holder[ENDS] = ends
  write('=' .. string.format('%.0f', holder[TOKEN]), holder)
end

local function is_no_grant(id)
  return string.sub(id, 1, 1) == '='
end

-- What is known of all holders together, after those whose time is over were dropped; nil if nobody holds. The second
-- result tells whether any was dropped. Costs one reading unless somebody's time may be over.
local function holding()
  local found = redis.call('HGET', holders, '#')
  local all = found and unpack_one(found)
  if all and now() < all[NONE_BEFORE] then
    return all, false
  end
  local left, dropped = {0, 0, '', math.huge}, false
  each_holder(function(id, holder)
    local kept = holder[ENDS] <= now() and kept_until(id)
    if kept then
      keep_lock(id, holder, kept)
    end
    if holder[ENDS] <= now() then
      forget(id)
      dropped = true
    else
      left = {left[COUNT] + 1, left[OUT] + holder[PERMITS], holder[MODE], math.min(left[NONE_BEFORE], holder[ENDS])}
    end
  end)
  if left[COUNT] == 0 then
    redis.call('DEL', holders)
    return nil, dropped
  end
  if found then
    redis.call('HSET', holders, '#', pack(left))
  end
  return left, dropped
end

-- Takes a holder out; returns what is left of all, nil if nobody is.
local function unhold(all, id, permits)
  if all[COUNT] == 1 then
    redis.call('DEL', holders)
    return nil
  end
  forget(id)
  all[COUNT] = all[COUNT] - 1
  all[OUT] = all[OUT] - permits
  redis.call('HSET', holders, '#', pack(all))
  return all
end

-- The holder of that id, and why it was broken if it was; nil if there is none.
local function holder_of(id)
  local found = redis.call('HMGET', holders, id, id .. '!')
  if not found[1] then
    return nil
  end
  return read(found[1]), found[2]
end

local function unqueue(id)
  redis.call('ZREM', queue, id)
  redis.call('HDEL', waiters, id)
end

-- The upgrade that waits, if it lives and holds still what is to be upgraded. The second result tells whether one was
-- dropped.
local function upgrading()
  local found = redis.call('HGET', waiters, 'u')
  if not found then
    return nil, false
  end
  local upgrade = unpack_one(found)
  local held, broken = holder_of(upgrade[6])
  if upgrade[2] > now() and held and held[ENDS] > now() and not broken then
    return upgrade, false
  end
  redis.call('HDEL', waiters, 'u')
  return nil, true
end

local function fits(all, mode, permits, capacity)
  if mode == 'P' then
    return (all and all[OUT] or 0) + permits <= capacity
  end
  return not all or (mode == 'S' and all[KIND] == 'S')
end

-- Visits those in the queue whose turn it is, in their order: each fits with the holders and with all before it. Ends
-- when visit returns true, and after 64. Drops the dead on its way. Returns the first in the queue, whether any was
-- dropped, and if it came to the end of the queue, true and what all would hold then.
local function in_turn(all, visit)
  local kind, out, first, dropped, seen = all and all[KIND], all and all[OUT] or 0, nil, false, 0
  while seen < 64 do
    local ids = redis.call('ZRANGE', queue, seen, seen + 7)
    for _, id in ipairs(ids) do
      local waiter = redis.call('HGET', waiters, id)
      waiter = waiter and unpack_one(waiter)
      if not waiter or waiter[4] <= now() then
        unqueue(id)
        dropped = true
      else
        first = first or id
        seen = seen + 1
        local next_fits = fits(kind and {0, out, kind}, waiter[1], waiter[2], waiter[3])
        if not next_fits or visit(id, waiter) or waiter[1] == 'X' then
          return first, dropped, false
        end
        kind, out = waiter[1], out + waiter[2]
      end
    end
    if #ids < 8 then
      return first, dropped, true, kind and {0, out, kind}
    end
  end
  return first, dropped, false
end

-- Grants what nobody holds to the first in the queue, whose client takes grants by message. The term is that of its
-- last attempt, which the message names, and from which the client counts too: so one that is not heard of any more is
-- in the way no longer than it would be in the queue.
local function hand_over(id, waiter)
  local token, lift = new_token(waiter[11])
  unqueue(id)
  write(id, {token, waiter[4], now(), waiter[6], waiter[1], waiter[2], waiter[7], lift})
  keep(holders, waiter[4] - now())
  tell(client_of(id), 'G ' .. number_of(id) .. ' ' .. waiter[10] .. ' ' .. token_text(token, lift) .. ' ' .. holders,
    waiter[9])
end

-- Tells the clients of those whose turn has come, and of nobody else, which of their requests should ask again. Whoever
-- was told and has not asked since is not told again. A writer that is the next is granted what it waits for, where its
-- client takes that and was heard of in the last half of its ttl. Returns what is known of all holders then.
local function wake(all)
  if redis.call('EXISTS', waiters) == 0 then
    return all
  end
  local upgrade = upgrading()
  if upgrade then
    if all and all[COUNT] == 1 then
      tell(client_of(upgrade[1]), 'R ' .. number_of(upgrade[1]) .. ' ' .. holders, upgrade[7])
    end
    return all
  end
  local clients, numbers, sharded = {}, {}, {}
  in_turn(all, function(id, waiter)
    if waiter[1] == 'X' and waiter[10] and waiter[4] - now() > waiter[6] / 2 then
      hand_over(id, waiter)
      all = {1, 1, 'X', waiter[4]}
    elseif waiter[8] == 0 then
      local client = client_of(id)
      if numbers[client] then
        numbers[client] = numbers[client] .. ',' .. number_of(id)
      else
        clients[#clients + 1] = client
        numbers[client] = number_of(id)
      end
      sharded[client] = sharded[client] or waiter[9]
      if waiter[1] ~= 'X' then
        waiter[8] = 1
        redis.call('HSET', waiters, id, pack(waiter))
      end
    end
  end)
  for _, client in ipairs(clients) do
    tell(client, 'R ' .. numbers[client] .. ' ' .. holders, sharded[client])
  end
  return all
end

-- Who holds, for people; the first few of many.
local function owners(answer)
  local fields = redis.call('HSCAN', holders, 0, 'COUNT', 20)[2]
  for i = 1, #fields, 2 do
    if string.find(fields[i], '%d$') and #answer < 18 then
      answer[#answer + 1] = read(fields[i + 1])[OWNER]
    end
  end
  return answer
end
