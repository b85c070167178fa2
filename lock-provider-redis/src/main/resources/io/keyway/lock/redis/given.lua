-- Remembers the floor of tokens that a client was given, unless a higher one was given before. Floors are compared as
-- the decimal numbers that they are, since a number of Lua has 53 bits.
-- KEYS: the highest floor that was given
-- ARGV: floor; anything if it is to be remembered, else it is only looked for
-- Returns the highest before, as text, or an empty one.
local highest = redis.call('GET', KEYS[1]) or ''
if ARGV[2] and (#highest < #ARGV[1] or (#highest == #ARGV[1] and highest < ARGV[1])) then
  redis.call('SET', KEYS[1], ARGV[1])
end
return highest
