import { z } from 'zod'
import {
  assertionEvents,
  assertionRefusals,
  ChallengeRecord,
  webauthnAssertionSchema,
  widening,
} from '../../identity/passkeys/index.ts'
import { operationsFor } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { notFoundOrDeleted } from '../../kernel/contract/operation.ts'
import { step } from '../../kernel/contract/step.ts'
import { id } from '../../values/ids.ts'
import { freeTextSchema } from '../../values/schemas.ts'
import {
  MandateEvent,
  MandateRecord,
  mandateChangeRefusals,
  mandateCreatedEvent,
  mandateLookupRefusals,
  mandateRevokedEvent,
  mandateStatusSchema,
  mandateSuspendedEvent,
  mandateTermRefusals,
  NewMandate,
  newMandateMembers,
} from './schemas.ts'

const agent_not_found = notFoundOrDeleted('agent')

const comment = z.strictObject({ comment: freeTextSchema.nullable().default(null) })

const exampleMandate = {
  agentId: 'agent_01jd8x2m4ye7k9v0c3q5r6t8wz',
  name: 'Books',
  constraints: { perTransactionEuros: 50, perMonthEuros: 200, merchants: ['Bookshop'] },
  expiresAt: '2027-01-31T00:00:00.000Z',
}

const readers = operationsFor({ callers: ['key', 'agent'], scope: 'mandates:read' })
const writers = operationsFor({ callers: ['key'], scope: 'mandates:write' })

export const mandatesApi = {
  options: writers.post('/mandates/options', {
    requires: 'passkeys',
    summary: 'Get the challenge of a mandate',
    description:
      'Returns the statement that a person signs with a passkey to create this mandate: the agent, all constraints and the expiry. Pass `options` to `navigator.credentials.get`, and send the result to `POST /mandates` with the same fields. The challenge expires after five minutes and can be used once.',
    body: NewMandate.extend({
      personId: id('person')
        .nullable()
        .default(null)
        .meta({ description: 'The person who must sign. Null: any approver. In the console, it is you.' }),
    }),
    example: { ...exampleMandate, personId: null },
    returns: [201, ChallengeRecord],
    fails: { agent_not_found, person_not_found: [404, 'personId: no such person.'], ...mandateTermRefusals },
    emits: {},
  }),
  create: writers.post('/mandates', {
    summary: 'Create a mandate',
    description:
      'A mandate is a person’s permission in advance. While it is active, an intent within it needs no approval if only its amount would require one (`autoApproveLimitEuros`, or no policy): `decidedBy` is then the mandate. Only intents that the mandate approves count against it.\n\nPossible duplicates, risk and `requireAttestation` still require a person, and every other rule and budget still applies. If several mandates allow an intent, the one that ends first is used. A person who may approve intents signs exactly these fields with a passkey.',
    signature: { challenge: '/mandates/options', always: true },
    body: z.strictObject({ ...newMandateMembers, webauthnAssertion: webauthnAssertionSchema }),
    example: {
      ...exampleMandate,
      webauthnAssertion: {
        challengeId: 'challenge_01jd8x2m4ye7k9v0c3q5r6t8wz',
        assertion: {
          id: 'AQIDBA',
          rawId: 'AQIDBA',
          type: 'public-key',
          response: { clientDataJSON: 'e30', authenticatorData: 'AQIDBA', signature: 'AQIDBA' },
        },
      },
    },
    returns: [201, MandateRecord],
    fails: {
      agent_not_found,
      agent_not_active: [400, 'The agent is frozen: unfreeze it first.'],
      ...mandateTermRefusals,
      ...assertionRefusals,
    },
    emits: { ...mandateCreatedEvent, ...assertionEvents },
  }),
  list: readers.list('/mandates', {
    readsClock: true,
    summary: 'List mandates',
    description: 'Newest first. An agent’s token sees only its agent’s mandates.',
    filters: { status: mandateStatusSchema.optional(), agentId: id('agent').optional() },
    item: MandateRecord,
  }),
  get: readers.get('/mandates/{id}', {
    readsClock: true,
    summary: 'Get a mandate',
    description: 'Includes what is left of each limit, and both signatures.',
    returns: [200, MandateRecord],
    fails: mandateLookupRefusals,
  }),
  suspend: writers.post('/mandates/{id}/suspend', {
    summary: 'Suspend a mandate',
    description:
      'The mandate approves nothing until it is resumed. Intents that it has approved stay approved.',
    body: comment,
    example: { comment: 'Until the invoice is clear' },
    returns: [200, MandateRecord],
    fails: { ...mandateChangeRefusals, mandate_suspended: [400, 'The mandate is already suspended.'] },
    emits: mandateSuspendedEvent,
  }),
  resume: writers.post('/mandates/{id}/resume', {
    summary: 'Resume a suspended mandate',
    description:
      'Refused while the agent is frozen or being deleted, or if the person who signed the mandate was removed.',
    body: comment.extend(widening.members),
    example: { comment: 'The invoice is clear' },
    returns: [200, MandateRecord],
    signature: widening.signature,
    fails: {
      ...widening.fails,
      ...mandateChangeRefusals,
      mandate_active: [400, 'The mandate is active: there is nothing to resume.'],
      agent_not_active: [400, 'The agent is frozen or being deleted. Unfreeze it first.'],
      signer_removed: [
        400,
        'The person who signed the mandate was removed. Have another person sign a new one.',
      ],
    },
    emits: {
      ...widening.emits,
      'mandate.resumed': declareEvent('A suspended mandate is active again.', MandateEvent),
    },
  }),
  revoke: writers.post('/mandates/{id}/revoke', {
    summary: 'Revoke a mandate',
    description:
      'Permanent: the mandate approves nothing from now on. Intents that it has approved stay approved; cancel those that should not be paid.',
    body: comment,
    example: { comment: 'No longer needed' },
    returns: [200, MandateRecord],
    fails: mandateChangeRefusals,
    emits: mandateRevokedEvent,
  }),
}

export const mandateSteps = {
  /** Changes nothing before the end, by the tenant's clock. */
  expire: step('mandates.expire', {
    summary: 'Expire a mandate',
    emits: { 'mandate.expired': declareEvent('A mandate has expired.', MandateEvent) },
  }),
}
