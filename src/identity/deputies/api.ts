import { z } from 'zod'
import { operationsFor } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { emptyBody, notFound, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { recordHead, recordTimestamps } from '../../values/schemas.ts'
import { bySeveral } from '../approvals/index.ts'
import { webauthnAssertionSchema, widening } from '../passkeys/index.ts'

const approvers = operationsFor({ callers: ['key'], scope: 'intents:approve' })

const from = instant.meta({
  description: 'When the span begins, at most 90 days ahead.',
  examples: ['2026-11-28T09:00:00.000Z'],
})
const until = instant.meta({
  description: 'When it ends, at most 90 days after `from`.',
  examples: ['2026-12-05T09:00:00.000Z'],
})
const deputyId = id('person').meta({ description: 'The person who may approve in their place.' })

const webauthnAssertion = webauthnAssertionSchema.optional().meta({
  description:
    'The signature over the challenge that the refusal `assertion_required` links to: in the console your own, with a key that of an owner or of the person. A key needs none before the account has had a passkey.',
})

const DeputyRecord = z
  .object({
    ...recordHead('deputy'),
    personId: id('person').meta({ description: 'The person whose deputy this is.' }),
    deputyId,
    from,
    until,
    ...recordTimestamps,
  })
  .meta({ id: 'Deputy' })

const DeputyEvent = z.object({
  recordId: id('deputy'),
  personId: id('person'),
  deputyId: id('person'),
  from: instant,
  until: instant,
})

export const deputyEvents = {
  'person.deputy_named': declareEvent(
    'A person has a deputy, who may approve in their place for a span.',
    DeputyEvent,
  ),
  'person.deputy_ended': declareEvent(
    'A deputy was ended before the span was over, since someone ended it, or one of both was removed or may no longer approve.',
    DeputyEvent,
  ),
}

const person_not_found = notFound('person')
const not_own_deputies: RefusalSpec = [
  403,
  'You can name and end deputies for yourself only. Ask an owner, or use a key with people:write.',
]

const readers = operationsFor({ callers: ['key'], scope: 'people:read' })

export const deputiesApi = {
  create: approvers.post('/people/{id}/deputies', {
    summary: 'Name a deputy of a person',
    description:
      'During the span the deputy may approve in the person’s place, where a policy asks several people. In the console, people name a deputy for themselves, and owners for others; their passkey signs it. With a key, an owner or the person signs the challenge that the refusal `assertion_required` links to.',
    signature: widening.signature,
    body: z.strictObject({ deputyId, from, until, webauthnAssertion }),
    example: {
      deputyId: 'person_01jd8x2m4ye7k9v0c3q5r6t8wz',
      from: '2026-11-28T09:00:00.000Z',
      until: '2026-12-05T09:00:00.000Z',
    },
    returns: [201, DeputyRecord],
    accepted: bySeveral.accepted,
    fails: {
      ...widening.fails,
      ...bySeveral.fails,
      person_not_found,
      not_own_deputies,
      invalid_span: [400, 'until must be after from, and each at most 90 days later than the one before it.'],
      person_not_approver: [
        400,
        'The person must be active, and an approver or owner. Others approve nothing that needs a deputy.',
      ],
      deputy_not_approver: [
        400,
        'deputyId: the deputy must be an active person who is an approver or owner. Invite them, or change their role.',
      ],
      own_deputy: [400, 'deputyId: no one is their own deputy. Name another person.'],
      deputies_overlap: [
        400,
        'from, until: the person has a deputy in this span already. End that one, or choose another span.',
      ],
      too_many_deputies: [400, 'The person has 20 deputies whose spans are not over. End one first.'],
    },
    emits: {
      ...widening.emits,
      ...bySeveral.emits,
      'person.deputy_named': deputyEvents['person.deputy_named'],
    },
  }),
  list: readers.list('/people/{id}/deputies', {
    summary: 'List the deputies of a person',
    description: 'Newest first, also those whose span is over, for 30 days.',
    item: DeputyRecord,
    fails: { person_not_found },
  }),
  end: approvers.del('/people/{id}/deputies/{recordId}', {
    summary: 'End a deputy',
    description:
      'The deputy approves no more in the person’s place; what they have approved stays. It needs no signature. In the console, people end their own deputies, and owners those of others; a key also needs `people:write`.',
    returns: [204, emptyBody],
    fails: {
      not_own_deputies,
      deputy_not_found: notFound('deputy of this person'),
      deputy_over: [400, 'The span of this deputy is already over.'],
    },
    emits: { 'person.deputy_ended': deputyEvents['person.deputy_ended'] },
  }),
}
