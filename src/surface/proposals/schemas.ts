import { z } from 'zod'
import { event } from '../../kernel/contract/events.ts'
import { type Failure, missing } from '../../kernel/contract/operation.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { recordHead, recordTail } from '../../values/schemas.ts'
import { proposalMachine } from './proposal.ts'

export const status = z.enum(proposalMachine.states).meta({
  description:
    '`applying`: somebody applies it just now. `outdated`: what it was about had changed when somebody applied it. `failed`: nobody knows whether it was done.',
})

const Somebody = z.object({ type: z.string(), id: z.string().nullable(), name: z.string().nullable() })

export const ProposalRecord = z
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
      .meta({ maxProperties: 200, description: 'Its members of path, query and body, as they were given.' }),
    summary: z.string().meta({ description: 'In words.', examples: ['Freeze an agent: Scout'] }),
    reason: z.string().nullable().meta({ description: 'What the proposer says. Words of somebody else.' }),
    changes: z
      .array(z.object({ member: z.string(), from: z.string().nullable(), to: z.string().nullable() }))
      .meta({ description: 'What would be another one, beside the record as it was then.' }),
    effect: z
      .object({ source: z.enum(['simulation', 'backtest']), sentence: z.string() })
      .nullable()
      .meta({ description: 'What it would have done at that time, where that can be said.' }),
    recordId: z.string().nullable().meta({ description: 'The record that it is about.' }),
    takesPasskey: z.boolean().meta({ description: 'Whether the operation takes a `webauthnAssertion`.' }),
    proposedBy: Somebody,
    expiresAt: instant.meta({ description: 'Until then it can be applied.' }),
    refusal: z
      .object({ code: z.string(), message: z.string() })
      .nullable()
      .meta({ description: 'What the operation has refused when it was applied last.' }),
    resultId: z
      .string()
      .nullable()
      .meta({ description: 'The id of the record that the operation answered.' }),
    decidedBy: Somebody.nullable(),
    decidedAt: instant.nullable(),
    ...recordTail,
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

export const created = {
  'canvas.proposal_created': event('Somebody has proposed what a person may apply.', ProposalEvent),
}
export const decided = {
  'canvas.proposal_applied': event('A person has applied a proposal: its operation was done.', ProposalEvent),
  'canvas.proposal_dismissed': event(
    'A proposal was dismissed, or what it was about had changed when somebody applied it.',
    ProposalEvent,
  ),
  'canvas.proposal_expired': event('Nobody has applied a proposal in time.', ProposalEvent),
}

const proposal_not_found = missing('proposal')
export const lookupFails = { proposal_not_found } as const satisfies Record<string, Failure>

export const changeFails = {
  proposal_not_found,
  proposal_over: [400, 'The proposal is applied, dismissed or over already. Make another one.'],
  proposal_expired: [410, 'Nobody has applied the proposal within fifteen minutes. Make another one.'],
  proposal_applying: [409, 'The proposal is being applied just now. Look at it again in a minute.'],
} as const satisfies Record<string, Failure>
