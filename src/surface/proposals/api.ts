import { z } from 'zod'
import { webauthnAssertionSchema, widening } from '../../identity/passkeys/index.ts'
import { internal, operationsFor } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { doneSchema, notFound, post, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { recordHead, recordTimestamps } from '../../values/schemas.ts'
import { type NewProposal, proposalMachine } from './proposal.ts'

const status = z.enum(proposalMachine.states).meta({
  description:
    '`applying`: being applied now. `outdated`: the record had changed when a person applied it. `failed`: the outcome is unknown.',
})

const Decider = z.object({ type: z.string(), id: z.string().nullable(), name: z.string().nullable() })

const ProposalRecord = z
  .object({
    ...recordHead('proposal'),
    agentId: id('agent').nullable().meta({ description: 'The agent whose token proposes it.' }),
    status,
    operation: z.string().meta({
      description: 'The operation that applying it calls.',
      examples: ['policies.replace'],
    }),
    input: z
      .record(z.string(), z.unknown())
      .meta({ maxProperties: 200, description: 'Members of path, query and body.' }),
    summary: z.string().meta({ description: 'The change in words.', examples: ['Freeze an agent: Scout'] }),
    reason: z.string().nullable().meta({ description: 'The proposer’s reason. Third-party text.' }),
    changes: z
      .array(z.object({ member: z.string(), from: z.string().nullable(), to: z.string().nullable() }))
      .meta({ description: 'Changed fields, compared with the record at the time of the proposal.' }),
    effect: z
      .object({ source: z.enum(['simulation', 'backtest']), sentence: z.string() })
      .nullable()
      .meta({ description: 'The predicted effect at the time of the proposal, if known.' }),
    recordId: z.string().nullable().meta({ description: 'The record to change.' }),
    takesPasskey: z.boolean().meta({ description: 'Whether the operation needs a `webauthnAssertion`.' }),
    proposedBy: Decider,
    expiresAt: instant.meta({ description: 'The proposal can be applied until then.' }),
    refusal: z
      .object({ code: z.string(), message: z.string() })
      .nullable()
      .meta({ description: 'The refusal of the last attempt to apply it.' }),
    resultId: z.string().nullable().meta({ description: 'The ID of the resulting record.' }),
    decidedBy: Decider.nullable(),
    decidedAt: instant.nullable(),
    ...recordTimestamps,
  })
  .meta({ id: 'Proposal' })

const ProposalEvent = z.object({
  proposalId: id('proposal'),
  agentId: id('agent').nullable(),
  operation: z.string(),
  recordId: z.string().nullable(),
  resultId: z.string().nullable(),
  status: z.enum(proposalMachine.states),
  expiresAt: instant,
})

const created = {
  'canvas.proposal_created': declareEvent('A proposal was made, which a person can apply.', ProposalEvent),
}
const decided = {
  'canvas.proposal_applied': declareEvent(
    'A person applied a proposal; its operation is done.',
    ProposalEvent,
  ),
  'canvas.proposal_dismissed': declareEvent(
    'A proposal was dismissed, or its record had changed when a person applied it.',
    ProposalEvent,
  ),
  'canvas.proposal_expired': declareEvent('A proposal expired without being applied.', ProposalEvent),
}

const proposal_not_found = notFound('proposal')
const lookupFails = { proposal_not_found } as const satisfies Record<string, RefusalSpec>

const changeFails = {
  proposal_not_found,
  proposal_over: [400, 'The proposal is already applied, dismissed or expired. Make a new one.'],
  proposal_expired: [410, 'The proposal expired after 15 minutes. Make a new one.'],
  proposal_applying: [409, 'The proposal is being applied. Check again in a minute.'],
} as const satisfies Record<string, RefusalSpec>

/** The service computes this object itself; no caller can send it. */
const newProposal = z.strictObject({
  proposal: z.custom<NewProposal>(
    given => typeof given === 'object' && given !== null && 'operation' in given,
    'must be a proposal created by the service',
  ),
})

const readers = operationsFor({ callers: ['key', 'agent'], scope: 'canvas:read' })

const writers = operationsFor({ callers: ['key', 'agent'], scope: 'canvas:write' })

export const proposalsApi = {
  list: readers.list('/canvas/proposals', {
    summary: 'List proposals',
    description:
      'Changes that assistants and agents propose, newest first. Each can be applied for 15 minutes. An agent token sees those of its agent.',
    filters: { status: status.optional(), agentId: id('agent').optional() },
    item: ProposalRecord,
  }),
  get: readers.getOne('/canvas/proposals/{id}', 'a proposal', ProposalRecord, lookupFails),
  apply: post('/canvas/proposals/{id}/apply', {
    summary: 'Apply a proposal',
    description: [
      'Runs the operation with the input of the proposal and the rights of the person who applies it, once: applying it again returns the same answer and does nothing. If the record or the policy of its agent has changed since, nothing is done. `GET /events?requestId=` with the ID of the proposal lists its effects.',
      'If the operation needs the signature of a passkey (`takesPasskey`), send it as to the operation itself; where the operation’s refusal links to a challenge, this one does, too. A refusal of the operation is `proposal_refused`, and can be tried again.',
    ].join('\n\n'),
    callers: ['key'],
    scope: 'canvas:apply',
    run: 'external',
    body: z.strictObject({ webauthnAssertion: webauthnAssertionSchema.optional() }),
    example: {},
    returns: [200, ProposalRecord],
    fails: {
      ...changeFails,
      proposal_outdated: [409, 'The record has changed since the proposal. Make a new one.'],
      assertion_required: widening.fails.assertion_required,
      statement_outdated: widening.fails.statement_outdated,
      passkey_required: widening.fails.passkey_required,
      proposal_refused: [409, 'The operation was refused. Nothing was done.'],
    },
    emits: decided,
  }),
  dismiss: writers.post('/canvas/proposals/{id}/dismiss', {
    summary: 'Dismiss a proposal',
    description: 'A dismissed proposal cannot be applied. An agent token dismisses only its own proposals.',
    returns: [200, ProposalRecord],
    fails: changeFails,
    emits: decided,
  }),
  make: internal.post('/canvas/proposals', {
    summary: 'Store a proposal',
    body: newProposal,
    returns: [201, z.object({ proposal: ProposalRecord.nullable(), isRepeated: z.boolean() })],
    emits: created,
  }),
  end: internal.post('/canvas/proposals/{id}/end', {
    summary: 'End a proposal that is due',
    run: 'external',
    returns: [200, doneSchema],
    fails: lookupFails,
    emits: decided,
  }),
}
