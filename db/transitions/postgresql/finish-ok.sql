-- leased -> done
update jobs
set
  state = 'done',
  owner = null,
  lease_until = null,
  finished_at = coalesce(
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
)
returning jobs.state, jobs.reason;
