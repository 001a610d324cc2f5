-- any -> unchanged
select
  state,
  (payload = :payload),
  token
from jobs
where (
  queue = :queue
  and id = :id
);
