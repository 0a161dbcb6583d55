import { expect, test } from 'vitest'
import { EVENT_KINDS, isRuleEvent, MOMENTARY, RULE_EVENTS, USUAL_EVENTS } from '#src/model/event.ts'

test('each event lasts or is over at once, and goes to every receiver or to those that name it', () => {
  const natureOf = EVENT_KINDS.map(kind => [
    kind,
    MOMENTARY.includes(kind) ? 'at once' : 'lasts',
    USUAL_EVENTS.includes(kind) ? 'usual' : 'only if named',
    isRuleEvent(kind) ? 'of a rule' : '',
  ])
  expect(natureOf.map(words => words.join(', ').replace(/, $/, ''))).toEqual([
    'inventory.late, lasts, usual',
    'removals.held, lasts, usual',
    'run.failing, lasts, usual',
    'night.missed, lasts, usual',
    'import.paused, lasts, usual',
    'import.undecided, lasts, usual',
    'import.completed, at once, usual',
    'mcp.tools.changed, at once, usual',
    'drift.found, at once, usual',
    'rule.disabled, at once, only if named, of a rule',
    'rule.removed, at once, only if named, of a rule',
    'rule.changed, at once, only if named, of a rule',
    'rule.added, at once, only if named, of a rule',
  ])
})

test('of the events of rules what matters most comes first', () => {
  expect(RULE_EVENTS).toEqual(['rule.disabled', 'rule.removed', 'rule.changed', 'rule.added'])
})
