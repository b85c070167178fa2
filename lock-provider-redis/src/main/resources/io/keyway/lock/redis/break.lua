-- Breaks the grant of that token, and tells its client why. Its place is kept until the client has answered by a release,
-- or its ttl has passed.
-- KEYS: holders
-- ARGV: token, reason
-- Returns 1 if it did, 0 if no such grant is in force.
local records = redis.call('HGETALL', holders)
for i = 1, #records, 2 do
  if records[i] ~= '#' then
    local record = unpack_one(records[i + 1])
    if record[TOKEN] == tonumber(ARGV[1]) and record[ENDS] > now() and record[BROKEN] == '' then
      record[BROKEN] = '!' .. ARGV[2]
      redis.call('HSET', holders, records[i], pack(record))
      tell(client_of(records[i]), 'B ' .. ARGV[1] .. ' ' .. holders .. ARGV[2])
      return 1
    end
  end
end
return 0
