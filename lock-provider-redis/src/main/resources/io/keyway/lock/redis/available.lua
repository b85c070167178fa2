-- Tells how many permits are out.
-- KEYS: holders
local all = holding()
return all and all[OUT] or 0
