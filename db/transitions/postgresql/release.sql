-- leased -> pending
update jobs
set
  state = 'pending',
  owner = null,
  lease_until = null,
  attempts = (jobs.attempts - 1),
  available_at = coalesce(
    :now,
    cast(
      floor((extract(epoch from statement_timestamp()) * 1000))
      as bigint
    )
  )
where (
  jobs.queue = :queue
  and jobs.id = :id
  and jobs.state = 'leased'
  and jobs.owner = :owner
  and jobs.token = :token
);
