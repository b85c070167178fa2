-- What the scripts of one name share: its records, its queue, and who is told. After token.lua.
--   holders  hash: by request id a record of token, end, since and ttl, four doubles, then mode (X, S or P) and
--            permits, if its token is lifted a comma and the lift, a semicolon and the owner; by id and '!' why it was
--            broken; by id and '^' {id, token, ttl, kept until, lift} of the reader that an upgraded holder was, until
--            a renewal shows that its client knows of the upgrade; by id and '=' until when the lock is to be kept at
--            least; by '=' and token the record of a lock that is kept and no grant any more; and unless one is alone,
--            '#' {how many, permits out, mode, none of them ends before}
--   waiters  hash: by request id {mode, permits, capacity, end, since, ttl, owner, told, sharded, asked, lift that its
--            client knows of if it does}, and 'u' for the reader that waits to become the writer: {id, end, since, ttl,
--            owner, id that it holds by, sharded}, for permits 'c' for the largest capacity that is stated, unless all
--            state the same, and 'y' for soft writers, which are in no queue: {when a reader was granted last since the
--            first of them came, 0 if none was, {{id, end, since, ttl, owner, time without readers, sharded}, ...}}
--   queue    sorted set of the ids of waiters but the upgrade, by arrival
-- Times are microseconds of the server. A request id is the client's incarnation, a colon and a number.
local holders, waiters, queue = KEYS[1], KEYS[2], KEYS[3]
local TOKEN, ENDS, SINCE, TTL, MODE, PERMITS, OWNER, LIFT = 1, 2, 3, 4, 5, 6, 7, 8
local COUNT, OUT, KIND, NONE_BEFORE = 1, 2, 3, 4
local MOST = 64
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

local function record(holder)
  return struct.pack('<dddd', holder[TOKEN], holder[ENDS], holder[SINCE], holder[TTL]) .. holder[MODE]
    .. string.format('%.0f', holder[PERMITS]) .. (holder[LIFT] > 0 and ',' .. holder[LIFT] or '') .. ';'
    .. holder[OWNER]
end

-- The key lasts as long as each record in it: one that has lost its last field has lost its expiry, too.
local function write(id, holder)
  redis.call('HSET', holders, id, record(holder))
  keep(holders, holder[ENDS] - now())
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

-- The lock is to be kept until then at least.
local function hold_until(id, ends)
  redis.call('HSET', holders, id .. '=', string.format('%.0f', ends))
  keep(holders, ends - now())
end

-- The lock is to be kept for so long at least after a grant made at that time; nothing if it is nil or false.
local function hold_at_least(id, since, micros)
  if micros then
    hold_until(id, since + micros)
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

local function unqueue(...)
  local removed = redis.call('ZREM', queue, ...)
  redis.call('HDEL', waiters, ...)
  if redis.call('EXISTS', queue) == 0 then
    redis.call('HDEL', waiters, 'c')
  end
  return removed
end

-- The largest capacity that is stated by those in the queue, or more; nil if all of them state the same.
local function widest()
  return tonumber(redis.call('HGET', waiters, 'c') or nil)
end

-- Somebody states that capacity and waits behind others, of whom that is known.
local function states(capacity, found)
  local known, first = found.mixed, found.capacity
  if found.refused == 0 then
    known = widest()
  end
  if capacity > (known or first) or (capacity < first and not known) then
    redis.call('HSET', waiters, 'c', math.max(capacity, first))
  end
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

-- The soft writers that live, in the form of 'y'; nil if there are none. The second result is how many have died.
local function soft_writers()
  local found = redis.call('HGET', waiters, 'y')
  if not found then
    return nil, 0
  end
  local soft, living = unpack_one(found), {}
  for _, writer in ipairs(soft[2]) do
    if writer[2] > now() then
      living[#living + 1] = writer
    end
  end
  local died = #soft[2] - #living
  soft[2] = living
  return #living > 0 and soft or nil, died
end

local function write_soft(soft)
  if soft and #soft[2] > 0 then
    redis.call('HSET', waiters, 'y', pack(soft))
  else
    redis.call('HDEL', waiters, 'y')
  end
end

-- Takes a soft writer out; tells whether it was there.
local function drop_soft(id)
  local soft = soft_writers()
  for i, writer in ipairs(soft and soft[2] or {}) do
    if writer[1] == id then
      table.remove(soft[2], i)
      write_soft(soft)
      return true
    end
  end
  return false
end

-- A reader has been granted, which soft writers that wait for a time without readers count from.
local function reader_granted()
  local soft = soft_writers()
  if soft then
    soft[1] = now()
    write_soft(soft)
  end
end

local function fits(all, mode, permits, capacity)
  if mode == 'P' then
    return (all and all[OUT] or 0) + permits <= capacity
  end
  return not all or (mode == 'S' and all[KIND] == 'S')
end

-- Visits those in the queue whose turn it is, in their order: each fits with the holders and with all before it that
-- were visited. Who does not fit ends the walk; a waiter for permits only for those behind it that state no larger
-- capacity than it does. Ends when visit returns true, and after MOST. Drops the dead on its way. Returns what it found:
-- the first in the queue and the capacity that it states, whether any was dropped, whether nobody further back can have
-- his turn, what all would hold then, the largest capacity that was refused, 0 if none was, and else what widest() says.
local function in_turn(all, visit)
  local kind, out, at, turns = all and all[KIND], all and all[OUT] or 0, 0, 0
  local found = {refused = 0, at_end = false, dropped = false}
  local stated = 0
  while turns < MOST do
    local ids = redis.call('ZRANGE', queue, at, at + 7)
    for _, id in ipairs(ids) do
      local waiter = redis.call('HGET', waiters, id)
      waiter = waiter and unpack_one(waiter)
      if not waiter or waiter[4] <= now() then
        unqueue(id)
        found.dropped = true
      else
        local mode, permits, capacity = waiter[1], waiter[2], waiter[3]
        if at == 0 then
          found.first, found.capacity = id, capacity
        end
        at = at + 1
        stated = math.max(stated, capacity)
        if mode == 'P' and capacity <= found.refused then
          -- Nobody passes one that states as much.
        elseif fits(kind and {0, out, kind}, mode, permits, capacity) then
          if visit(id, waiter) or mode == 'X' then
            return found
          end
          turns = turns + 1
          kind, out = mode, out + permits
        elseif mode ~= 'P' then
          return found
        else
          found.refused = capacity
          found.mixed = found.mixed or widest()
        end
        if found.refused > 0 and found.refused >= (found.mixed or found.refused) then
          found.at_end, found.all = true, kind and {0, out, kind}
          return found
        end
      end
    end
    if #ids < 8 then
      if found.mixed and stated < found.mixed then
        redis.call('HSET', waiters, 'c', stated)
      end
      found.at_end, found.all = true, kind and {0, out, kind}
      return found
    end
  end
  return found
end

-- Adds to what is to be said to the client of a request.
local function add(messages, id, text, sharded)
  local client = client_of(id)
  local message = messages[client]
  if message then
    message.text = message.text .. ',' .. text
  else
    message = {client = client, text = text}
    messages[client] = message
    messages[#messages + 1] = message
  end
  message.sharded = message.sharded or sharded
end

local function send(messages, kind)
  for _, message in ipairs(messages) do
    tell(message.client, kind .. ' ' .. message.text .. ' ' .. holders, message.sharded)
  end
end

-- Grants to waiters whose turn has come, and whose clients take grants by message. The term is that of the last
-- attempt, which the message names, and from which the client counts too: so one that is not heard of any more is in
-- the way no longer than it would be in the queue. Returns what is known of all holders then.
local function hand_over(all, ids, chosen)
  local fields, messages, last = {}, {}, 0
  for i, id in ipairs(ids) do
    local waiter = chosen[i]
    local token, lift = new_token(waiter[11])
    fields[#fields + 1] = id
    fields[#fields + 1] = record({token, waiter[4], now(), waiter[6], waiter[1], waiter[2], waiter[7], lift})
    last = math.max(last, waiter[4])
    all = all and {all[COUNT] + 1, all[OUT] + waiter[2], waiter[1], math.min(all[NONE_BEFORE], waiter[4])}
      or {1, waiter[2], waiter[1], waiter[4]}
    add(messages, id, number_of(id) .. ':' .. waiter[10] .. ':' .. token_text(token, lift), waiter[9])
  end
  if all[COUNT] > 1 then
    fields[#fields + 1] = '#'
    fields[#fields + 1] = pack(all)
  end
  unqueue(unpack(ids))
  redis.call('HSET', holders, unpack(fields))
  keep(holders, last - now())
  if all[KIND] == 'S' then
    reader_granted()
  end
  send(messages, 'G')
  return all
end

-- Grants what they wait for to those whose turn has come, where their clients take that and were heard of in the last
-- half of their ttl. The other ones whose turn has come, and nobody else, are told to ask again: whoever was told and
-- has not asked since is not told again. So is the last of many, which has the next ones granted when it asks. Returns
-- what is known of all holders then.
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
  local ids, chosen, messages = {}, {}, {}
  local found = in_turn(all, function(id, waiter)
    if waiter[10] and waiter[4] - now() > waiter[6] / 2 and #ids < MOST - 1 then
      ids[#ids + 1] = id
      chosen[#chosen + 1] = waiter
    elseif waiter[8] == 0 then
      add(messages, id, number_of(id), waiter[9])
      if waiter[1] ~= 'X' then
        waiter[8] = 1
        redis.call('HSET', waiters, id, pack(waiter))
      end
    end
  end)
  if #ids > 0 then
    all = hand_over(all, ids, chosen)
  elseif not all and not found.first then
    local soft, died = soft_writers()
    for _, writer in ipairs(soft and soft[2] or {}) do
      if math.max(writer[3], soft[1]) + writer[6] <= now() then
        add(messages, writer[1], number_of(writer[1]), writer[7])
      end
    end
    if died > 0 then
      write_soft(soft)
    end
  end
  send(messages, 'R')
  return all
end

-- Who holds, for people; the first few of many.
local function owners(answer)
  local fields = redis.call('HSCAN', holders, 0, 'COUNT', 20)[2]
  for i = 1, #fields, 2 do
    if string.find(fields[i], '%d$') and #answer < 18 then
      local record = fields[i + 1]
      answer[#answer + 1] = string.sub(record, string.find(record, ';', 33, true) + 1)
    end
  end
  return answer
end
