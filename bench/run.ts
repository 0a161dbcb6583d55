import { mkdir, writeFile } from 'node:fs/promises'
import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { setTimeout as delay } from 'node:timers/promises'
import { coldSync } from './cold-sync.ts'
import { type Figure, judge, ratioOf } from './support/figures.ts'
import { type Bench, openLab } from './support/lab.ts'
import { openServer } from './support/server.ts'
import { printTable } from './support/table.ts'

/*
 * Measures what Ferry promises about speed and size:
 *
 *     npm run bench                      everything, about ten minutes
 *     npm run bench -- cold-sync as-of   only these
 *     npm run bench -- --quick           small sizes, a minute or two: shows that the benches work; no speed is judged,
 *                                        but the limits are
 *     npm run bench -- --long throttle   ten minutes at the platform's real limits
 *
 * A speed is judged by its ratio to a floor measured in the same run on the same machine, taking turns, by medians.
 * Ends with 1 if a figure that must be reached is not. Everything measured is kept in bench/results as JSON.
 *
 * The database is an embedded Postgres in a temporary directory, or made on the server FERRY_BENCH_DATABASE_URL (of a
 * superuser, for CHECKPOINT). The platform is the sandbox in a process of its own. Nothing is left behind, Ctrl-C or not.
 */
