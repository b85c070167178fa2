-- Ends a grant, if it is in force, by its id and token.
-- KEYS: holders, waiters, queue
-- ARGV: id, token
-- Returns 1 if it has ended it, 0 if it was not in force, or had been broken: then this says that its holder has stopped.
local found = redis.call('HMGET', holders, ARGV[1], '#')
if not found[1] then
  return 0
end
local record = unpack_one(found[1])
if record[TOKEN] ~= tonumber(ARGV[2]) then
  return 0
end
wake(unhold(unpack_one(found[2]), ARGV[1], record), client_of(ARGV[1]))
return record[BROKEN] == '' and 1 or 0
