/*
 * What may import what. `npm run rooms` checks it, and test/rooms.test.ts; `npm run docs` draws it into
 * docs/architecture.md. Type imports count like any other, except where a room is in `types`.
 */

/**
 * The files of each room that the commands may import; the others are inner ones. A command that needs more asks the room
 * for a function. Of the domains no tables are among them: a command runs no query.
 *
 * @type {Record<string, string[]>}
 */
const FRONT_DOORS = {
  ferry: ['ferry'],
  config: ['config'],
  platform: ['answer', 'listing', 'lossless-json', 'operations', 'throttle'],
  db: [
    'acts-list',
    'backfill',
    'clock',
    'installation',
    'known-database',
    'leases',
    'limits',
    'list',
    'migrate',
    'migration-plan',
    'pool',
    'retry',
    'rows',
    'server-facts',
    'verify',
    'verify-calls',
    'workers',
  ],
  inventory: [
    'history/changes',
    'history/changes-list',
    'history/differences',
    'history/history-start',
    'history/inventory-lists',
    'history/known-words',
    'history/list-inventory',
    'history/snapshot-diff',
    'history/snapshots',
    'history/snapshots-list',
    'holds/approve',
    'holds/list-holds',
    'known-accounts',
    'messages',
    'platform-accounts',
    'publish/preview',
    'runs/list-runs',
    'runs/next-steps',
    'runs/runs-list',
    'sync',
    'verify/history',
    'verify/holds',
    'verify/ledger',
  ],
  imports: ['context', 'errors', 'estimate', 'next-steps'],
  'imports/staging': ['expire', 'options', 'presets/presets', 'rules', 'stage', 'staging-report'],
  'imports/sending': ['work'],
  'imports/control': ['decide', 'purge', 'resolve'],
  'imports/reporting': [
    'batches',
    'imports-list',
    'progress',
    'recipients',
    'rejects',
    'report',
    'stuck',
    'summary',
    'pace',
    'verify-batches',
    'verify-decisions',
    'verify-rows',
    'waits-for',
  ],
  schedules: ['control', 'definition', 'list-schedules', 'verify'],
  reports: [
    'account-readers',
    'around',
    'catalogue',
    'freshness',
    'nights',
    'freshness-targets',
    'reader-role',
    'run-report',
  ],
  notify: ['deliver', 'events-list', 'list-events'],
  worker: ['backfills', 'freshness-targets', 'notifications', 'run-due', 'wake-ups', 'worker'],
  queue: ['backend', 'check', 'refused'],
  jobs: ['index', 'prune', 'schedules'],
  embedded: ['placement', 'postgres', 'upgrade'],
  http: ['server', 'console/access', 'console/target'],
  sandbox: ['fault-text', 'random', 'sandbox', 'state'],
}

/**
 * Every room: what it is for, which rooms it may import, and of which it may import types only, because types leave
 * nothing behind when the program runs.
 *
 * @type {Record<string, { is: string, may: string[], types?: string[] }>}
 */
const ROOMS = {
  model: { is: 'Plain types and pure functions. It imports nothing.', may: [] },
  platform: {
    is: 'The platform: its contract, its client, its errors. It does not know the database.',
    may: ['model'],
  },
  db: {
    is: 'Postgres: pool, transactions, migrations, leases, the call log. It knows no domain.',
    may: ['model'],
  },
  embedded: { is: 'The embedded Postgres.', may: ['db', 'model'] },
  config: { is: 'The settings, read from the environment.', may: ['model'] },
  sandbox: {
    is: 'A platform for demos and tests. It knows the contract, nothing of Ferry.',
    may: ['platform', 'model'],
  },
  inventory: {
    is: 'Alert rules and MCP servers: compared, versioned, kept.',
    may: ['platform', 'db', 'model'],
  },
  imports: { is: 'What the four rooms of an import share.', may: ['platform', 'db', 'model'] },
  'imports/staging': {
    is: 'From the file to rows in tables. It never imports sending: they meet in the tables.',
    may: ['imports', 'platform', 'db', 'model'],
  },
  'imports/sending': {
    is: 'From rows in tables to the platform. It never imports staging.',
    may: ['imports', 'platform', 'db', 'model'],
  },
  'imports/control': {
    is: 'What a person decides about an import: confirm, pause, resume, cancel, resolve, purge.',
    may: ['imports', 'imports/sending', 'db', 'model'],
  },
  'imports/reporting': {
    is: 'What became of an import. It writes rejects the way staging read them.',
    may: ['imports', 'imports/staging', 'platform', 'db', 'model'],
  },
  schedules: { is: 'What is due, and which worker has it.', may: ['db', 'model'] },
  reports: {
    is: 'What people look at: the named reports, and how fresh each inventory is.',
    may: ['db', 'model'],
  },
  notify: {
    is: 'Tells people of events: sends what is in the outbox, and watches what becomes true by itself.',
    may: ['platform', 'db', 'model'],
  },
  queue: { is: 'BullMQ, and nothing of any domain.', may: ['db', 'model'] },
  jobs: {
    is: 'One file a job: its name, its payload, one call into a domain. All schedules are on one page.',
    may: ['inventory', 'imports/staging', 'imports/sending', 'imports/control', 'schedules', 'db', 'model'],
    types: ['imports', 'reports'],
  },
  worker: {
    is: 'Joins queue, schedules and jobs.',
    may: [
      'queue',
      'schedules',
      'jobs',
      'notify',
      'inventory',
      'imports/sending',
      'imports/reporting',
      'reports',
      'db',
      'model',
    ],
  },
  http: {
    is: 'Health, freshness and metrics over HTTP, and the console. Loaded only where it is on.',
    may: [
      'reports',
      'inventory',
      'imports',
      'imports/control',
      'imports/reporting',
      'schedules',
      'notify',
      'db',
      'model',
    ],
  },
  ferry: {
    is: 'Builds what the others need, once for each process.',
    may: [
      'config',
      'model',
      'platform',
      'db',
      'inventory',
      'imports',
      'imports/sending',
      'queue',
      'reports',
      'embedded',
    ],
  },
  cli: {
    is: 'The commands. No room imports it.',
    may: ['model', ...Object.keys(FRONT_DOORS)],
  },
}

const OURS = '^(src|jobs)/'

/** The files of a room: `src/config.ts` is of the room config; `src/imports/context.ts` of imports, not of a room in it. */
function filesOf(room) {
  if (room === 'jobs') return '^jobs/'
  return room === 'imports' ? '^src/imports/[^/]+$' : `^src/${room}(/|[.]ts$)`
}

function rulesOf([room, { is, may, types = [] }]) {
  const from = { path: filesOf(room) }
  const known = [room, ...may].map(filesOf)
  return [
    {
      name: `room ${room}`,
      comment: is,
      severity: 'error',
      from,
      to: { path: OURS, pathNot: [...known, ...types.map(filesOf)] },
    },
    ...types.map(other => ({
      name: `room ${room}, types of ${other}`,
      comment: `${room} may import no more than types of ${other}: a value would tie them when the program runs.`,
      severity: 'error',
      from,
      to: { path: filesOf(other), dependencyTypesNot: ['type-only'] },
    })),
  ]
}

/** The rules that keep the command line out of what is behind the front door of a room. */
function wallOf([room, doors]) {
  const names = doors.join('|')
  return {
    name: `front door of ${room}`,
    comment: `A command imports of ${room} only what FRONT_DOORS lists.`,
    severity: 'error',
    from: { path: filesOf('cli') },
    to: { path: filesOf(room), pathNot: `^(jobs|src|src/${room})/(${names})[.]ts$` },
  }
}

export default {
  forbidden: [
    ...Object.entries(ROOMS).flatMap(rulesOf),
    ...Object.entries(FRONT_DOORS).map(wallOf),
    {
      name: 'unknown room',
      comment: 'Every file is in a room of this map, so that somebody has said what it may import.',
      severity: 'error',
      from: {},
      to: { path: OURS, pathNot: Object.keys(ROOMS).map(filesOf) },
    },
    {
      name: 'circle',
      comment: 'Files that import each other can be read, tested and moved only together; types count.',
      severity: 'error',
      from: { path: OURS },
      to: { circular: true },
    },
    {
      name: 'BullMQ outside the queue',
      comment: 'Only the queue knows BullMQ and Redis, so that one place chooses the backend.',
      severity: 'error',
      from: { path: OURS, pathNot: filesOf('queue') },
      to: { path: '(^|node_modules/)(bullmq|ioredis)(/|$)' },
    },
    {
      name: 'HTTP loaded where it is off',
      comment:
        'A worker without HTTP must not pay for it in memory: others import src/http only when it is on.',
      severity: 'error',
      from: { path: OURS, pathNot: filesOf('http') },
      to: { path: filesOf('http'), dynamic: false, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'Drizzle outside db',
      comment:
        'db/drizzle.ts loads the light build of Drizzle and keeps the errors of the driver; run-migrations.ts reads them.',
      severity: 'error',
      from: { path: OURS, pathNot: '^src/db/(drizzle|run-migrations)[.]ts$' },
      to: { path: '(^|node_modules/)drizzle-orm(/|$)', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'unresolved',
      comment: 'An import of ours that leads nowhere would pass every rule above.',
      severity: 'error',
      from: { path: OURS },
      to: { couldNotResolve: true, path: '^[#.]' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { conditionNames: ['node', 'import'] },
  },
}
