-- Lifts all tokens that come.
-- KEYS: floor of tokens
-- ARGV: by what at least
-- Returns 1.
local number, lift = string.match(redis.call('GET', KEYS[1]) or '0', '^(%d+)%+?(%d*)$')
if (tonumber(lift) or 0) < tonumber(ARGV[1]) then
  redis.call('SET', KEYS[1], number .. '+' .. ARGV[1])
end
return 1
