-- The audit of redrives. A row holds who allowed a redrive, and the death as it was before the redrive cleared it.
-- One death has one token, so the primary key lets each death be redriven once. A job with a row here is never deleted.
create table redrives (
  queue                    text    not null,
  job_id                   text    not null,
  previous_token           integer not null,
  at_ms                    integer not null,
  note                     text    not null,
  approved_by              text    not null,
  deadline_at              integer not null,
  previous_reason          text    not null,
  previous_fault           text,
  previous_attempts        integer not null,
  previous_deadline_at     integer not null,
  previous_finished_at     integer not null,
  previous_investigated_at integer,
  previous_investigated_by text,
  previous_investigation   text,

  constraint redrives_pk primary key (queue, job_id, previous_token),
  constraint redrives_job foreign key (queue, job_id) references jobs (queue, id),

  constraint redrives_note_identifier check (
    note glob '[A-Za-z0-9]*' and note not glob '*[^A-Za-z0-9._:/#-]*' and octet_length(note) <= 64
    and octet_length(note) = length(note)
  ),
  constraint redrives_approved_by_identifier check (
    approved_by glob '[A-Za-z0-9]*' and approved_by not glob '*[^A-Za-z0-9._:/#-]*' and octet_length(approved_by) <= 64
    and octet_length(approved_by) = length(approved_by)
  ),
  constraint redrives_reason_known check (previous_reason in ('permanent', 'exhausted', 'deadline')),
  constraint redrives_fault_identifier check (
    previous_fault is null
    or (previous_fault glob '[A-Za-z0-9]*' and previous_fault not glob '*[^A-Za-z0-9._:/#-]*'
        and octet_length(previous_fault) <= 64 and octet_length(previous_fault) = length(previous_fault))
  ),
  constraint redrives_investigated_by_identifier check (
    previous_investigated_by is null
    or (previous_investigated_by glob '[A-Za-z0-9]*' and previous_investigated_by not glob '*[^A-Za-z0-9._:/#-]*'
        and octet_length(previous_investigated_by) <= 64
        and octet_length(previous_investigated_by) = length(previous_investigated_by))
  ),
  constraint redrives_investigation_identifier check (
    previous_investigation is null
    or (previous_investigation glob '[A-Za-z0-9]*' and previous_investigation not glob '*[^A-Za-z0-9._:/#-]*'
        and octet_length(previous_investigation) <= 64
        and octet_length(previous_investigation) = length(previous_investigation))
  ),
  constraint redrives_investigation_whole check (
    (previous_investigated_at is null) = (previous_investigated_by is null)
    and (previous_investigated_at is null) = (previous_investigation is null)
  ),
  constraint redrives_counts_in_range check (previous_token >= 0 and previous_attempts >= 0),
  constraint redrives_times_in_order check (
    at_ms >= 0 and deadline_at > at_ms
    and previous_deadline_at >= 0 and previous_finished_at >= 0
    and (previous_investigated_at is null or previous_investigated_at >= 0)
  )
) strict;
