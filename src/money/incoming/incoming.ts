import { area } from '../../kernel/contract/area.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { sqlCondition } from '../../kernel/contract/records.ts'
import { definedOnly, halfOpenRange } from '../../kernel/database/entity.ts'
import { incomingApi, incomingSteps, ownCreditsApi, suspenseApi } from './api.ts'
import { assign, assignOwn, returnCredit } from './assign.ts'
import { readFile } from './bank-file.ts'
import { simulateCredit } from './credits.ts'
import { finish, handOversDue } from './hand-over.ts'
import { creditMachine, IncomingCredit, IS_INCOMING, incomingPersonal } from './incoming-credit.ts'
import { payOut, suspense } from './pay-out.ts'
import { arrive } from './receive.ts'

/** Omits the platform's record of a credit that has arrived with its owner. */
const NOT_ARRIVED_ELSEWHERE =
  sqlCondition(`to_owner_id is null or not exists (select from incoming_credits arrived
  where (arrived.owner_id, arrived.mode, arrived.id) = (incoming_credits.to_owner_id, incoming_credits.mode, incoming_credits.id))`)

const incoming = implement(
  { ...incomingApi, ...ownCreditsApi, ...suspenseApi, ...incomingSteps },
  {
    simulate: async ({ body }, context) =>
      context.tenant.mode === 'test' ? simulateCredit(body, context) : context.refuse('test_mode_only'),

    list: ({ query: { status, mode, ownerId, walletId, from, to } }, { page }) =>
      page(IncomingCredit, {
        ...NOT_ARRIVED_ELSEWHERE,
        ...definedOnly({ status, mode, ownerId, walletId, createdAt: halfOpenRange(from, to) }),
      }),

    readFile,
    assign,
    returnCredit,
    suspense,
    payOut,

    own: ({ query: { status, walletId, from, to } }, { page, tenant }) =>
      page(IncomingCredit, {
        ...tenant,
        ...IS_INCOMING,
        ...definedOnly({ status, walletId, createdAt: halfOpenRange(from, to) }),
      }),

    getOwn: async ({ params }, { records, tenant, refuse }) =>
      (await records.findOne(IncomingCredit, { ...tenant, ...IS_INCOMING, id: params.id })) ??
      refuse('credit_not_found'),

    assignOwn,
    arrive,
    finish,
  },
)

export const incomingArea = area(
  'Incoming',
  'Credits by SEPA: matched to a wallet, or waiting for one.',
  incoming,
  {
    personal: incomingPersonal,
    entities: [IncomingCredit],
    machines: [creditMachine],
    deadlines: [handOversDue],
  },
)
