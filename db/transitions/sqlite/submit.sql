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
  coalesce(:available_at, :now),
  (max(
    :now,
    coalesce(:available_at, :now)
  ) + :deadline),
  :now,
  :payload
)
on conflict
do nothing;
