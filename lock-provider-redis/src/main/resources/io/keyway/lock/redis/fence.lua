-- Stores a value unless a higher token was seen for it. Tokens are compared as the decimal numbers that they are, since
-- a number of Lua has 53 bits.
-- KEYS: value, highest token
-- ARGV: token, value
-- Returns 1 if it was stored, 0 if not.
local highest = redis.call('GET', KEYS[2])
if highest and (#highest > #ARGV[1] or (#highest == #ARGV[1] and highest > ARGV[1])) then
  return 0
end
redis.call('SET', KEYS[2], ARGV[1])
redis.call('SET', KEYS[1], ARGV[2])
return 1
