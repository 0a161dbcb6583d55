import { type Damage, drop, set } from './damage.ts'

const ANY_OPEN = 'drop index ferry.events_open;'
const TWICE_OPEN = `${ANY_OPEN} insert into ferry.events (kind, state, account, subject, data, is_open) select kind, state, account, subject, data, true from ferry.events where is_open limit 1;`

/** Damage to the imports, the call log, the schedules and the outbox of the story. */
export const IMPORT_DAMAGES: readonly Damage[] = [
  [
    'import sums',
    set('imports', 'id = 2', 'read = read + 1'),
    /import 2 has read 11 rows and accounts for 10/,
  ],
  [
    'import counts',
    set('imports', 'id = 2', 'sent = sent - 1'),
    /import 2 keeps sent = 9, but its rows are 10/,
  ],
  [
    'import counts',
    set('imports', 'id = 4', 'uncertain = 0'),
    /import 4 keeps uncertain = 0, but its rows are 10/,
  ],
  [
    'import counts',
    drop('import_rejects', 'import_id = 6'),
    /import 6 keeps rejected = 1, but its rows are 0/,
  ],
  [
    'import counts',
    drop('platform_calls', 'batch_id = (select max(id) from ferry.import_batches where import_id = 2)'),
    /import 2 keeps requests = 3, but its rows are 2/,
  ],
  [
    'import counts',
    set('import_locales', 'import_id = 2', 'sent = sent - 1'),
    /import 2 keeps sent, in ferry.import_locales = 9/,
  ],
  [
    'import counts',
    'delete from ferry.import_locales where import_id = 2;',
    /import 2 keeps sent, in ferry.import_locales = 0, but its rows are 10/,
  ],
  [
    'import places',
    `insert into ferry.import_left_out (import_id, line, kind, reason) values (2, 2, 'suppressed', 'x');`,
    /import_recipients and ferry.import_left_out: line 2 of import 2/,
  ],
  [
    'import places',
    `insert into ferry.import_rejects (import_id, line, origin, reason, message) values (2, 2, 'file', 'x', 'x');`,
    /import_recipients and ferry.import_rejects: line 2 of import 2/,
  ],
  [
    'import places',
    `insert into ferry.import_left_out (import_id, line, kind, reason) select import_id, line, 'suppressed', 'x' from ferry.import_rejects limit 1;`,
    /import_rejects and ferry.import_left_out: line 7 of import 6/,
  ],
  ['rows of no import', drop('imports', 'id = 2'), /ferry.import_recipients: 10 rows belong to import 2/],
  [
    'rows of no import',
    drop('import_batches', "import_id = 2 and state = 'sent'"),
    /ferry.platform_calls: 1 row belongs to batch \d+/,
  ],
  [
    'batch ranges',
    set('import_batches', 'import_id = 2 and from_line > 2', 'from_line = from_line - 1'),
    /batch \d+ of import 2 has lines .* some of which are in another batch/,
  ],
  [
    'batch ranges',
    set('imports', 'id = 8', 'batched_to = batched_to - 1'),
    /of import 8 has lines .* beyond the last line/,
  ],
  [
    'batch gaps',
    set('import_batches', 'import_id = 2 and from_line = 6', 'from_line = 7'),
    /line 6 of import 2 is in no batch/,
  ],
  [
    'batch gaps',
    set('imports', 'id = 8', 'batched_to = batched_to + 1'),
    /line 10 of import 8 is in no batch/,
  ],
  [
    'batch rows',
    drop('import_recipients', 'import_id = 2 and line = 3'),
    /batch \d+ of import 2 counts 4 rows, but has 3 recipients/,
  ],
  [
    'batch calls',
    set('import_batches', 'import_id = 2', 'call_id = 999'),
    /of import 2 is sent, but its call is not in/,
  ],
  [
    'batch calls',
    set('import_batches', 'import_id = 2', 'call_id = null'),
    /of import 2 is sent, but no call of it is known/,
  ],
  ['batch calls', set('import_batches', 'import_id = 2', 'claim = gen_random_uuid()'), /of import 2 is sent/],
  ['import statuses', set('imports', 'id = 2', 'finished_at = null'), /import 2 is completed/],
  ['import statuses', set('imports', 'id = 3', 'rests_since = null'), /import 3 is paused/],
  ['import statuses', set('imports', 'id = 3', 'confirmed_at = null'), /import 3 is paused/],
  [
    'decisions on imports',
    `delete from ferry.audit where action = 'confirm' and subject_id = '2';`,
    /nobody is recorded who did confirm import 2/,
  ],
  ['decisions on imports', `delete from ferry.audit where action = 'cancel';`, /cancel import 5/],
  [
    'decisions on imports',
    `delete from ferry.audit where action = 'pause' and subject_id = '3';`,
    /pause import 3/,
  ],
  ['decisions on imports', `delete from ferry.audit where action = 'resolve';`, /resolve import 7/],
  [
    'decisions on imports',
    `insert into ferry.audit (account, actor, action, subject_kind, subject_id) values ('default', 'ada', 'confirm', 'import', '99');`,
    /import 99, which does not exist/,
  ],
  [
    'events of imports',
    `update ferry.events set is_open = false where kind = 'import.paused' and subject = '3';`,
    /nobody is told of import.paused of import 3/,
  ],
  [
    'events of imports',
    `update ferry.events set kind = 'import.undecided' where kind = 'import.paused' and subject = '3' and is_open;`,
    /import.undecided is open for import 3/,
  ],
  [
    'limits',
    `insert into ferry.platform_calls (limit_key, account, operation, started, counted_by) select limit_key, account, operation, now() + n * interval '1 ms', now() + interval '10 s' from ferry.platform_calls c, generate_series(1, 1001) n where operation = 'import-subscribers' and c.id = (select max(id) from ferry.platform_calls);`,
    /was call 10\d\d of 1000 in 1000 ms/,
  ],
  [
    'calls',
    set('platform_calls', 'finished is not null', "finished = started - interval '1 s'"),
    /call \d+ .* has times that cannot be/,
  ],
  [
    'schedules by hand',
    `delete from ferry.audit where subject_kind = 'schedule' and action = 'pause';`,
    /poll-alert-rules of account default/,
  ],
  [
    'schedules by hand',
    `delete from ferry.audit where subject_kind = 'schedule' and action = 'run';`,
    /poll-alert-rules of account default/,
  ],
  [
    'slots',
    'update ferry.schedule_slots set done_at = now();',
    /poll-alert-rules, account default, is neither due nor done/,
  ],
  ['outbox', TWICE_OPEN, /ferry.events: rows of .* contradict each other/],
]
