import { z } from 'zod'
import { event } from '../../kernel/contract/events.ts'
import { get, post } from '../../kernel/contract/operation.ts'
import { instant } from '../../values/clock.ts'

const YEAR_IN_DAYS = 366

const Clock = z.object({
  now: instant.meta({ description: 'The time that every rule of yours goes by.' }),
  offsetSeconds: z.number().min(0).meta({ description: 'How far ahead of real time that is.' }),
})

const amount = (most: number) => z.int().min(1).max(most).optional()

const testModeOnly = [400, 'Only the clock of test mode can be moved: use a sandbox or test key.'] as const

export const sandboxApi = {
  clock: get('/simulate/clock', {
    readsClock: true,
    summary: 'Read your test clock',
    callers: ['key'],
    scope: 'sandbox:read',
    returns: [200, Clock],
  }),
  advance: post('/simulate/clock/advance', {
    summary: 'Move your test clock forward',
    description:
      'Everything that falls due on the way happens, in order: a month of your agents in a second. Webhooks that wait for another attempt are tried, too. It cannot be moved back, and live mode has no such clock.',
    callers: ['key'],
    scope: 'sandbox:write',
    run: 'external',
    body: z
      .strictObject({
        seconds: amount(YEAR_IN_DAYS * 86_400),
        minutes: amount(YEAR_IN_DAYS * 1_440),
        days: amount(YEAR_IN_DAYS),
      })
      .refine(given => Object.keys(given).length === 1, 'give one of seconds, minutes and days'),
    example: { days: 1 },
    returns: [200, Clock],
    fails: {
      test_mode_only: testModeOnly,
      clock_too_far: [400, 'The clock can be moved a hundred years ahead, and not further.'],
    },
    emits: {
      'clock.advanced': event(
        'The test clock has been moved forward.',
        z.object({ ownerId: z.string(), ...Clock.shape }),
      ),
    },
  }),
}
