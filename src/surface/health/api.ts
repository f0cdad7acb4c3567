import { z } from 'zod'
import { file } from '../../kernel/contract/file.ts'
import { get } from '../../kernel/contract/operation.ts'

const oldestSeconds = (of: string) =>
  z.object({ oldestSeconds: z.number().nullable().meta({ description: of }) })

const Checks = z.object({
  database: z.enum(['ok', 'unreachable']),
  temporal: z
    .enum(['ok', 'unreachable'])
    .nullable()
    .meta({ description: 'Null while no durable processes run.' }),
  relay: oldestSeconds('Age of the oldest work that waits for Temporal.'),
  deliveries: oldestSeconds('For how long a webhook waits that could be sent.').extend({
    behind: z
      .int()
      .min(0)
      .meta({ description: 'Subscriptions that are paused because too much waits for them.' }),
  }),
})

export const healthApi = {
  health: get('/health', {
    limits: { unmetered: true },
    summary: 'Is the service well?',
    callers: ['public'],
    returns: [
      200,
      z.object({ status: z.literal('ok'), version: z.string(), checks: Checks }).meta({ id: 'Health' }),
    ],
    fails: { database_unreachable: [503, 'The database cannot be reached.'] },
  }),
  about: get('/', {
    summary: 'What this is, and where to read on',
    callers: ['public'],
    returns: [
      200,
      z.object({
        name: z.string(),
        version: z.string(),
        links: z.object({ docs: z.string(), openapi: z.string(), health: z.string(), wellKnown: z.string() }),
      }),
    ],
  }),
  metrics: get('/metrics', {
    summary: 'Figures for Prometheus',
    callers: ['dash'],
    returns: [200, file('text/plain; version=0.0.4; charset=utf-8')],
  }),
}
