import { z } from 'zod'
import { declareEvent } from '../../kernel/contract/events.ts'
import { get, post } from '../../kernel/contract/operation.ts'
import { instant } from '../../values/clock.ts'

const YEAR_IN_DAYS = 366

const Clock = z.object({
  now: instant.meta({ description: 'The time that applies to all of your records.' }),
  offsetSeconds: z.number().min(0).meta({ description: 'Offset from real time.' }),
})

const amount = (most: number) => z.int().min(1).max(most).optional()

const testModeOnly = [400, 'The clock can only be advanced in test mode. Use a sandbox or test key.'] as const

export const sandboxApi = {
  clock: get('/simulate/clock', {
    readsClock: true,
    summary: 'Get the test clock',
    description:
      'While it is advanced, `now` is the instant at which it has stopped on the way, and `movesTo` where it goes.',
    callers: ['key'],
    scope: 'sandbox:read',
    returns: [200, Clock.extend({ movesTo: instant.nullable() })],
  }),
  advance: post('/simulate/clock/advance', {
    limits: { inTurn: true },
    summary: 'Advance the test clock',
    description:
      'Everything that falls due on the way happens in order: a month of your agents in a second. Webhook deliveries that wait for another attempt are retried, too. The clock cannot be moved back, and live mode has none.',
    callers: ['key'],
    scope: 'sandbox:write',
    run: 'external',
    body: z
      .strictObject({
        seconds: amount(YEAR_IN_DAYS * 86_400),
        minutes: amount(YEAR_IN_DAYS * 1_440),
        days: amount(YEAR_IN_DAYS),
      })
      .refine(given => Object.keys(given).length === 1, 'send exactly one of seconds, minutes and days'),
    example: { days: 1 },
    returns: [200, Clock],
    fails: {
      test_mode_only: testModeOnly,
      clock_too_far: [400, 'The clock can be at most 100 years ahead.'],
    },
    emits: {
      'clock.advanced': declareEvent(
        'The test clock was advanced.',
        z.object({ ownerId: z.string(), ...Clock.shape }),
      ),
    },
  }),
}
