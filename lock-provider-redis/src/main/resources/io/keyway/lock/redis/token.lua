-- The clock of a script, and the one place at which a fencing token is made.
-- KEYS: the floor of tokens, the last key of each script that may grant
-- A token is a number that a double holds, which counts, and a multiple of 2^53 by which it is lifted over the tokens
-- of another store, mostly 0; as text "number+lift". The floor is the highest token so far; its lift is that of all
-- tokens.
local floor = KEYS[#KEYS]
local clock, clock_text, made, made_lift

-- Microseconds of the server, the same for a whole script.
local function now()
  if not clock then
    local time = redis.call('TIME')
    -- As text it goes to the server as it is: to write a number of Lua takes its time.
    clock_text = time[1] .. string.sub('00000' .. time[2], -6)
    clock = tonumber(clock_text)
  end
  return clock
end

local function token_text(token, lift)
  return string.format('%.0f', token) .. (lift > 0 and '+' .. lift or '')
end

-- A token as an answer: a number, or a text where it is lifted.
local function token_reply(token, lift)
  return lift > 0 and redis.status_reply(token_text(token, lift)) or token
end

-- Makes the token of a new grant: the server's clock, or one more than the floor if the clock was set back or another
-- grant was in the same microsecond; and its lift: that of the floor, or that which the client knows of, which is more
-- if the server has lost its data.
local function new_token(known)
  local token, lift = now(), tonumber(known) or 0
  if made then
    -- The floor is what this script has made last.
    made, made_lift = made + 1, math.max(lift, made_lift)
    redis.call('GETSET', floor, token_text(made, made_lift))
    return made, made_lift
  end
  local highest = redis.call('GETSET', floor, lift > 0 and clock_text .. '+' .. lift or clock_text)
  if highest and (tonumber(highest) or token) >= token then
    local number, lifted = string.match(highest, '^(%d+)%+?(%d*)$')
    number, lifted = tonumber(number), tonumber(lifted) or 0
    if number >= token or lifted > lift then
      token, lift = math.max(token, number + 1), math.max(lift, lifted)
      -- By the same command as above: a user who may not use another would stop here, with the lift taken away.
      redis.call('GETSET', floor, token_text(token, lift))
    end
  end
  if token >= 9007199254740991 then
    error('the fencing tokens are used up')
  end
  made, made_lift = token, lift
  return token, lift
end
