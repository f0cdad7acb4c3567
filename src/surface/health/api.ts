import { z } from 'zod'
import { open, operator } from '../../kernel/contract/callers.ts'
import { fileSchema } from '../../kernel/contract/file.ts'

const oldestSeconds = (of: string) =>
  z.object({ oldestSeconds: z.number().nullable().meta({ description: of }) })

const Checks = z.object({
  database: z.enum(['ok', 'unreachable']),
  temporal: z.enum(['ok', 'unreachable']).nullable().meta({ description: 'Null if Temporal is not in use.' }),
  relay: oldestSeconds('Age of the oldest work waiting for Temporal.'),
  deliveries: oldestSeconds('Age of the oldest webhook delivery that could be sent.').extend({
    behind: z.int().min(0).meta({ description: 'Webhooks paused by their backlog.' }),
  }),
})

export const LiveRails = z
  .object({
    sepaOut: z.enum(['files', 'sandbox']).nullable().meta({ description: 'SEPA transfers to others.' }),
    sepaIn: z.enum(['bank_account']).nullable().meta({ description: 'Incoming SEPA transfers.' }),
    cards: z.enum(['stripe', 'sandbox']).nullable().meta({ description: 'Cards of agents.' }),
    machinePayments: z
      .enum(['stripe', 'sandbox'])
      .nullable()
      .meta({ description: 'Payments for an HTTP 402.' }),
    acquirer: z.enum(['stripe']).nullable().meta({ description: 'Payment requests paid by programs.' }),
    paymentMethods: z
      .enum(['stripe', 'sandbox'])
      .nullable()
      .meta({ description: 'Fundings by a payment method.' }),
    identityVerification: z
      .enum(['stripe', 'manual', 'none', 'sandbox'])
      .meta({ description: '`none`: unchecked, for one customer.' }),
  })
  .meta({
    id: 'LiveRails',
    description: 'What moves money in live mode. `null`: nothing does. `sandbox`: a simulation.',
  })

export const healthApi = {
  health: open.get('/health', {
    limits: { unmetered: true },
    summary: 'Check the health of the service',
    returns: [
      200,
      z
        .object({ status: z.literal('ok'), version: z.string(), checks: Checks, live: LiveRails })
        .meta({ id: 'Health' }),
    ],
    fails: { database_unreachable: [503, 'The database is unreachable.'] },
  }),
  about: open.get('/', {
    summary: 'Get the name, version and links of the service',
    description: 'Browsers are redirected to the console.',
    http: {
      reads: { accept: '`application/json` or `text/html`.' },
      headers: { 303: { Location: 'The console, relative to this address.' } },
    },
    fails: { page_for_people: [303, 'People use the console.'] },
    returns: [
      200,
      z.object({
        name: z.string(),
        version: z.string(),
        links: z.object({ docs: z.string(), openapi: z.string(), health: z.string(), wellKnown: z.string() }),
      }),
    ],
  }),
  metrics: operator.get('/metrics', {
    summary: 'Get metrics for Prometheus',
    returns: [200, fileSchema('text/plain; version=0.0.4; charset=utf-8')],
  }),
}
