-- leased -> leased
update jobs
set
  lease_until = greatest(
    jobs.lease_until,
    (coalesce(
      :now,
      cast(
        floor((extract(epoch from statement_timestamp()) * 1000))
        as bigint
      )
    ) + :lease)
  )
where (
  jobs.queue = :queue
  and jobs.id = :id
  and jobs.state = 'leased'
  and jobs.owner = :owner
  and jobs.token = :token
  and jobs.lease_until > coalesce(
    :now,
    cast(
      floor((extract(epoch from statement_timestamp()) * 1000))
      as bigint
    )
  )
);
