-- any -> unchanged
select case
  when exists (
    select 1 as one
    from redrives
    where (
      redrives.queue = jobs.queue
      and redrives.job_id = jobs.id
      and redrives.previous_token > :token
    )
  ) then 'dead'
  else state
end
from jobs
where (
  queue = :queue
  and id = :id
);
