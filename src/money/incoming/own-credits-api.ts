import { z } from 'zod'
import { get, list, missing, post } from '../../kernel/contract/operation.ts'
import { id } from '../../values/ids.ts'
import { timeRange } from '../../values/schemas.ts'
import { Assignment, assignmentEvents, assignmentFails, exampleAssignment, IncomingRecord } from './api.ts'
import { arrivedStates } from './incoming-credit.ts'

const reads = { callers: ['key'], scope: 'billing:read' } as const

/** What an owner does with the own incoming credits. */
export const ownCreditsApi = {
  own: list('/incoming', {
    ...reads,
    summary: 'List your incoming credits',
    description:
      'What has come in for you from outside, newest first. `status=unmatched` is money on your suspense account, which waits for you to say into which wallet it goes.',
    filters: {
      status: z.enum(arrivedStates).optional(),
      walletId: id('wallet').optional(),
      ...timeRange,
    },
    item: IncomingRecord,
  }),
  getOwn: get('/incoming/{id}', {
    ...reads,
    summary: 'Get one of your incoming credits',
    returns: [200, IncomingRecord],
    fails: { credit_not_found: missing('incoming credit') },
  }),
  assignOwn: post('/incoming/{id}/assign', {
    callers: ['key'],
    scope: 'wallets:fund',
    summary: 'Assign one of your incoming credits to a wallet of yours',
    description:
      'From your suspense account into a wallet of yours, once. `reference` names the wallet by its own reference, or by that of a request, which is then paid; with `walletId` the credit pays the request in that wallet which its text names. What you owe is repaid from it first.',
    body: Assignment,
    example: exampleAssignment,
    returns: [200, IncomingRecord],
    fails: assignmentFails,
    emits: assignmentEvents,
  }),
}
