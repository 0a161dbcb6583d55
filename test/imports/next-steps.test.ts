import { expect, test } from 'vitest'
import { type ImportStanding, nextSteps, stepsWithoutWorker } from '#src/imports/next-steps.ts'
import { FIRST_ROWS_SENT, TOO_MANY_REJECTS } from '#src/imports/states.ts'
import { stepsInWords } from '#src/model/next-step.ts'

const RESOLVE = ['resolve 7 --as sent', 'resolve 7 --as resend']
const REJECTS = 'rejects 7 --out rejects-7.csv'

test.for<[Partial<ImportStanding>, string[]]>([
  [{ status: 'staging' }, ['cancel 7']],
  [{ status: 'queued' }, []],
  [{ status: 'running', uncertain: 3, rejected: 2 }, []],
  [{ status: 'paused' }, ['resume 7', 'cancel 7']],
  [{ status: 'paused', rejected: 2 }, ['resume 7', 'cancel 7']],
  [{ status: 'paused', pauseCode: FIRST_ROWS_SENT }, ['resume 7', 'cancel 7']],
  [{ status: 'paused', pauseCode: FIRST_ROWS_SENT, uncertain: 2 }, [...RESOLVE, 'resume 7', 'cancel 7']],
  [{ status: 'paused', pauseCode: TOO_MANY_REJECTS, rejected: 20 }, [REJECTS, 'resume 7', 'cancel 7']],
  [{ status: 'undecided', uncertain: 3 }, [...RESOLVE, 'cancel 7']],
  [{ status: 'completed' }, []],
  [{ status: 'completed', rejected: 1 }, [REJECTS]],
  [{ status: 'completed', rejected: 1, isPurged: true }, []],
  [{ status: 'cancelled' }, []],
  [{ status: 'cancelled', uncertain: 1 }, RESOLVE],
  [{ status: 'cancelled', uncertain: 1, isPurged: true }, []],
])('what a person may do about an import: %j', ([of, commands]) => {
  const steps = nextSteps({ id: 7n, status: 'staging', uncertain: 0, rejected: 0, ...of })
  expect(steps.map(({ command }) => command)).toEqual(commands.map(command => `ferry imports ${command}`))
})

test('steps are one sentence, and no step is nothing', () => {
  expect(stepsInWords([])).toBe('')
  expect(stepsInWords([{ command: 'a', does: 'does one' }])).toBe('`a` does one.')
  expect(
    stepsInWords([
      { command: 'a', does: 'does one' },
      { command: 'b', does: 'does another' },
    ]),
  ).toBe('`a` does one, `b` does another.')
})

test('each step says what it does', () => {
  const steps = nextSteps({
    id: 7n,
    status: 'paused',
    uncertain: 1,
    rejected: 1,
    pauseCode: TOO_MANY_REJECTS,
  })
  expect(steps).toEqual([
    {
      command: 'ferry imports rejects 7 --out rejects-7.csv',
      does: 'writes the rejected rows to a file, to be corrected and imported',
    },
    { command: 'ferry imports resolve 7 --as sent', does: 'marks the uncertain rows as sent' },
    { command: 'ferry imports resolve 7 --as resend', does: 'sends them again' },
    { command: 'ferry imports resume 7', does: 'continues it' },
    { command: 'ferry imports cancel 7', does: 'ends it' },
  ])
  expect(stepsWithoutWorker(7n)).toEqual([
    { command: 'ferry worker', does: 'starts a worker' },
    { command: 'ferry imports resume 7 --wait', does: 'processes it here' },
  ])
})
