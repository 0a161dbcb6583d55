import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, onTestFinished, type TestContext, test } from 'vitest'
import { runShell, startShell } from '#test/docs/shell.ts'
import { type BareRoot, canMakeBareRoot, makeBareRoot } from '#test/support/bare-root.ts'
import { openCheckedSandbox } from '#test/support/sandbox.ts'
import { waitFor } from '#test/support/wait-for.ts'

/* What `npm pack` makes, installed as a user installs it, and run where nothing else of Ferry is. */

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const NEEDED = ['bin', 'src', 'jobs', 'drizzle', 'package.json', 'README.md']
const run = promisify(execFile)

/** As in a user's shell: the Node of the machine, not the one that npm scripts use. */
const PATH = (process.env.PATH ?? '')
  .split(delimiter)
  .filter(path => path !== dirname(process.execPath) && !path.includes('node_modules'))
  .join(delimiter)

/** npm could not reach what it installs from. */
const OFFLINE = /ENOTCACHED|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH/

let made: string
let tarball: string
let prefix: string
let notRun: string | undefined

beforeAll(async () => {
  made = await mkdtemp(join(tmpdir(), 'ferry-package-'))
  // A clone of its own: to pack writes into it for a moment.
  const clone = join(made, 'clone')
  await mkdir(clone)
  for (const name of NEEDED) await run('cp', ['-r', join(ROOT, name), clone])
  await symlink(join(ROOT, 'node_modules'), join(clone, 'node_modules'))
  const npm = (...args: string[]) =>
    run('npm', args, { cwd: clone, timeout: 240_000, env: { ...process.env, PATH } })
  const { stdout } = await npm('pack', '--silent', '--pack-destination', made)
  tarball = join(made, stdout.trim().split('\n').at(-1) ?? '')
  expect(await readdir(clone)).not.toContain('dist')
  prefix = join(made, 'prefix')
  await mkdir(prefix)
  await npm('install', '--global', '--prefer-offline', '--prefix', prefix, tarball).catch(error => {
    if (!OFFLINE.test(error.stderr)) throw error
    notRun = 'NOT RUN: npm does not reach the packages that Ferry needs'
  })
}, 300_000)

afterAll(() => rm(made, { recursive: true, force: true }))

test('the package has what runs and nothing else', async () => {
  const { stdout } = await run('tar', ['tzf', tarball])
  const files = stdout.trim().split('\n')
  const others = files.filter(path => !/^package\/dist\/(src|jobs|drizzle)\//.test(path))
  expect(others.sort()).toEqual(
    ['README.md', 'bin/ferry', 'dist/package.json', 'package.json'].map(path => `package/${path}`),
  )
  expect(files.filter(path => !/\.(js|css|svg|sql|json|md)$|bin\/ferry$/.test(path))).toEqual([])
})

/** Where the package is installed, read-only, beside the programs of this machine. */
async function installed(context: TestContext): Promise<BareRoot> {
  if (notRun !== undefined) context.skip(notRun)
  const bare = await makeBareRoot(prefix)
  onTestFinished(() => bare[Symbol.asyncDispose]())
  return bare
}

const place = { cwd: '/', env: { PATH: process.env.PATH ?? '' } }

describe.skipIf(!canMakeBareRoot)(
  `installed${canMakeBareRoot ? '' : ' (NOT RUN: it needs root and mounts)'}`,
  () => {
    test('every module of it can be loaded', async context => {
      const { inside } = await installed(context)
      const at = '/opt/ferry/lib/node_modules/ferry'
      const load = `
      const files = require("fs").globSync("{src,jobs}/**/*.js").filter(path => !/^src.(cli.ferry|http.console.assets)/.test(path))
      Promise.all(files.map(path => import(process.cwd() + "/" + path))).then(all => console.log(all.length > 300))`
      const loaded = await runShell(inside(`${at}/node_modules/.bin/node -e '${load}'`, `${at}/dist`), place)
      expect(loaded).toEqual({ code: 0, stdout: 'true\n', stderr: '' })
    })

    test('the demo runs as another user from his empty home, and says what it needs where he may not write', async context => {
      const { inside, home } = await installed(context)
      const demo = await runShell(inside('ferry demo', home), place)
      expect(demo).toMatchObject({ code: 0, stderr: '' })
      expect(demo.stdout).toContain('Checked: Postgres holds exactly what the platform holds')
      const [, next = ''] = /^ +(FERRY_DATA_DIR=\S+ ferry runs list)$/m.exec(demo.stdout) ?? []
      expect(await runShell(inside(next, home), place)).toMatchObject({ code: 0 })
      expect(await runShell(inside('ferry demo', '/'), place)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('FERRY_DATA_DIR'),
      })
    })

    test.for<readonly [command: string, line: string]>([
      ['up', 'Ferry is up'],
      ['worker', 'poll-alert-rules'],
    ])(
      '`ferry %s` works from another directory until a signal reaches it',
      async ([command, line], context) => {
        await using sandbox = await openCheckedSandbox({ rules: 3, servers: 2 })
        const { inside, home } = await installed(context)
        const settings = `FERRY_BASE_URL=${sandbox.baseUrl} FERRY_APP_KEY=${sandbox.appKey} FERRY_DATA_DIR=${home}/.ferry`
        await using running = startShell(inside(`${settings} exec ferry ${command}`, '/opt'), place)
        await waitFor(() => running.printed().includes(line), { what: `ferry ${command}` })
        const synced = () => runShell(inside(`${settings} ferry rules list --json`, '/usr'), place)
        await waitFor(
          async () => (await synced()).stdout.trim().split('\n').length === sandbox.state.rules.size,
          {
            what: 'the rules',
          },
        )
        running.interrupt()
        expect(await running.ended).toBe(0)
      },
    )
  },
)
