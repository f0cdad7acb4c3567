import { z } from 'zod'
import { operationsFor } from '../../kernel/contract/callers.ts'
import { notFound } from '../../kernel/contract/operation.ts'
import { scopeSchema } from '../../kernel/contract/scopes.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { moneySchema } from '../../values/money.ts'
import { recordHead, recordTimestamps } from '../../values/schemas.ts'
import { MandateRecord } from '../mandates/index.ts'
import { endedGrantEvents } from './events.ts'
import { grantEndReasons, grantMachine } from './grant.ts'

const status = z.enum(grantMachine.states).meta({
  description: '`approved` for the minute in which the client fetches its tokens.',
})

const AssistantRecord = z
  .object({
    ...recordHead('assistant'),
    agentId: id('agent'),
    personId: id('person').meta({ description: 'The owner who connected it.' }),
    status,
    clientName: z.string().meta({ description: 'Chosen by the client.' }),
    clientHost: z.string().nullable().meta({
      description:
        'The host that published the client’s metadata, and where its answers go. Null: nothing proves who the client is.',
    }),
    redirectUri: z.string(),
    scopes: z.array(scopeSchema),
    tokenId: id('token').nullable(),
    mandate: MandateRecord.nullable().meta({
      description:
        'Its budget, and what is left. Null if a person approves each payment, and for a key without `mandates:read`.',
    }),
    heldCents: moneySchema.meta({ description: 'Amount held for its approved intents.' }),
    spentCents: moneySchema.meta({ description: 'Amount of its paid intents.' }),
    expiresAt: instant,
    lastUsedAt: instant.nullable().meta({ description: 'To the minute.' }),
    endedAt: instant.nullable(),
    endedBecause: z.enum(grantEndReasons).nullable(),
    ...recordTimestamps,
  })
  .meta({ id: 'Assistant' })

const fails = { assistant_not_found: notFound('assistant') } as const

const readers = operationsFor({ callers: ['key'], scope: 'tokens:read' })
const writers = operationsFor({ callers: ['key'], scope: 'tokens:write' })

export const assistantsApi = {
  list: readers.list('/assistants', {
    readsClock: true,
    summary: 'List connected assistants',
    description: 'Newest first, with those that ended in the last 90 days.',
    filters: { status: status.optional(), agentId: id('agent').optional() },
    item: AssistantRecord,
  }),
  get: readers.get('/assistants/{id}', {
    readsClock: true,
    summary: 'Get a connected assistant',
    returns: [200, AssistantRecord],
    fails,
  }),
  disconnect: writers.post('/assistants/{id}/disconnect', {
    summary: 'Disconnect an assistant',
    description:
      'Its tokens stop working, its mandate is revoked, and its open intents are cancelled, which releases the held money. A payment that is under way continues.',
    returns: [200, AssistantRecord],
    fails: { ...fails, assistant_ended: [400, 'The assistant is already disconnected.'] },
    emits: endedGrantEvents,
  }),
}
