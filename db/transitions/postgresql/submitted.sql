-- any -> unchanged
select
  state,
  (payload = :payload)
from jobs
where (
  queue = :queue
  and id = :id
);
