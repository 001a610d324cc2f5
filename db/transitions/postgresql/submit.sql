-- - -> pending
insert into jobs (
  queue,
  id,
  state,
  token,
  attempts,
  max_attempts,
  available_at,
  deadline_at,
  submitted_at,
  payload
)
values (
  :queue,
  :id,
  'pending',
  0,
  0,
  :max_attempts,
  coalesce(
    :available_at,
    coalesce(
      :now,
      cast(
        floor((extract(epoch from statement_timestamp()) * 1000))
        as bigint
      )
    )
  ),
  (greatest(
    coalesce(
      :now,
      cast(
        floor((extract(epoch from statement_timestamp()) * 1000))
        as bigint
      )
    ),
    coalesce(
      :available_at,
      coalesce(
        :now,
        cast(
          floor((extract(epoch from statement_timestamp()) * 1000))
          as bigint
        )
      )
    )
  ) + :deadline),
  coalesce(
    :now,
    cast(
      floor((extract(epoch from statement_timestamp()) * 1000))
      as bigint
    )
  ),
  :payload
)
on conflict
do nothing;
