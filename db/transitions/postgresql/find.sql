-- any -> unchanged
select
  queue,
  id,
  state,
  reason,
  fault,
  owner,
  lease_until,
  token,
  attempts,
  max_attempts,
  available_at,
  deadline_at,
  submitted_at,
  finished_at,
  investigated_at,
  investigated_by,
  investigation,
  payload
from jobs
where (
  queue = :queue
  and id = :id
);
