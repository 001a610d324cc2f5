-- The audit of redrives. A row holds who allowed a redrive, and the death as it was before the redrive cleared it.
-- One death has one token, so the primary key lets each death be redriven once. A job with a row here is never deleted.
create table redrives (
  queue                    text collate "C" not null,
  job_id                   text collate "C" not null,
  previous_token           bigint not null,
  at_ms                    bigint not null,
  note                     text collate "C" not null,
  approved_by              text collate "C" not null,
  deadline_at              bigint not null,
  previous_reason          text collate "C" not null,
  previous_fault           text collate "C",
  previous_attempts        bigint not null,
  previous_deadline_at     bigint not null,
  previous_finished_at     bigint not null,
  previous_investigated_at bigint,
  previous_investigated_by text collate "C",
  previous_investigation   text collate "C",

  constraint redrives_pk primary key (queue, job_id, previous_token),
  constraint redrives_job foreign key (queue, job_id) references jobs (queue, id),

  constraint redrives_note_identifier check (note ~ '^[A-Za-z0-9][A-Za-z0-9._:/#-]{0,63}$'),
  constraint redrives_approved_by_identifier check (approved_by ~ '^[A-Za-z0-9][A-Za-z0-9._:/#-]{0,63}$'),
  constraint redrives_reason_known check (previous_reason in ('permanent', 'exhausted', 'deadline')),
  constraint redrives_fault_identifier check (previous_fault ~ '^[A-Za-z0-9][A-Za-z0-9._:/#-]{0,63}$'),
  constraint redrives_investigated_by_identifier check (
    previous_investigated_by ~ '^[A-Za-z0-9][A-Za-z0-9._:/#-]{0,63}$'
  ),
  constraint redrives_investigation_identifier check (
    previous_investigation ~ '^[A-Za-z0-9][A-Za-z0-9._:/#-]{0,63}$'
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
);
