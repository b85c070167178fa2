-- Ends a grant, if it is in force, by its id and token.
-- Returns 1 if it has ended it, 0 if it was not in force, or had been broken: then this says that its holder has
-- stopped.
local left = nil
if not alone then
  local all = found[2] and unpack_one(found[2]) or {1, 0, '', 0}
  left = unhold(all, ARGV[1], read(found[1])[PERMITS])
end
wake(left)
return found[3] and 0 or 1
