-- leased -> leased
update jobs
set
  lease_until = max(
    jobs.lease_until,
    (:now + :lease)
  )
where (
  jobs.queue = :queue
  and jobs.id = :id
  and jobs.state = 'leased'
  and jobs.owner = :owner
  and jobs.token = :token
  and jobs.lease_until > :now
);
