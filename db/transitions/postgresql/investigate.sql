-- dead -> dead
update jobs
set
  investigated_at = coalesce(
    :now,
    cast(
      floor((extract(epoch from statement_timestamp()) * 1000))
      as bigint
    )
  ),
  investigated_by = :by,
  investigation = :ticket
where (
  jobs.queue = :queue
  and jobs.id = :id
  and jobs.state = 'dead'
  and jobs.token = :token
);
