-- dead -> unchanged
select
  queue,
  id,
  token,
  reason,
  fault,
  attempts,
  max_attempts,
  submitted_at,
  finished_at,
  investigated_at,
  investigated_by,
  investigation,
  count(*) over () as matched
from jobs
where (
  queue = :queue
  and state = 'dead'
  and finished_at >= coalesce(
    (:now - :at_most),
    0
  )
  and finished_at <= coalesce(
    (:now - :at_least),
    9223372036854775807
  )
  and id >= :id_from
  and id < :id_until
  and reason = coalesce(:reason, reason)
  and coalesce(fault, '') = coalesce(:fault, fault, '')
  and case
    when investigated_at is null then 0
    else 1
  end = coalesce(
    :investigated,
    case
      when investigated_at is null then 0
      else 1
    end
  )
)
order by finished_at, id
limit :limit;
