-- Breaks the grant of that token, and tells its client why. Its place is kept until the client has answered by a release,
-- or its ttl has passed.
-- KEYS: holders
-- ARGV: token, reason
-- Returns 1 if it did, 0 if no such grant is in force.
local done = 0
each_holder(function(id, holder)
  if holder[TOKEN] == tonumber(ARGV[1]) and holder[ENDS] > now() and redis.call('HEXISTS', holders, id .. '!') == 0 then
    redis.call('HSET', holders, id .. '!', ARGV[2])
    tell(client_of(id), 'B ' .. ARGV[1] .. ' ' .. holders .. ARGV[2])
    done = 1
  end
end)
return done
