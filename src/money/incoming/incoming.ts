import { area } from '../../kernel/contract/area.ts'
import { sqlCondition } from '../../kernel/contract/conditions.ts'
import { bindHandlers } from '../../kernel/contract/operation.ts'
import { definedOnly, halfOpenRangeCondition } from '../../kernel/database/entity.ts'
import { describePostings, narrativeOfRow } from '../ledger/index.ts'
import { incomingApi, incomingStepsApi, ownCreditsApi, suspenseApi } from './api.ts'
import { assignCredit, assignOwnCredit, returnIncomingCredit } from './assign.ts'
import { importBankFile } from './bank-file.ts'
import { simulateCredit } from './credits.ts'
import { finishHandOver, handOverDeadline } from './hand-over.ts'
import { ARRIVED_CREDIT_CONDITION, IncomingCredit, incomingCreditMachine } from './incoming-credit.ts'
import { listSuspenseBalances, recordSuspensePayout } from './pay-out.ts'
import { bookArrivedCredits } from './receive.ts'

/** Omits the platform's record of a credit that has arrived with its owner. */
const NOT_ARRIVED_ELSEWHERE =
  sqlCondition(`to_owner_id is null or not exists (select from incoming_credits arrived
  where (arrived.owner_id, arrived.mode, arrived.id) = (incoming_credits.to_owner_id, incoming_credits.mode, incoming_credits.id))`)

const incoming = bindHandlers(
  { ...incomingApi, ...ownCreditsApi, ...suspenseApi, ...incomingStepsApi },
  {
    simulate: async ({ body }, context) =>
      context.tenant.mode === 'test' ? simulateCredit(body, context) : context.refuse('test_mode_only'),

    list: ({ query: { status, mode, ownerId, walletId, from, to } }, { page }) =>
      page(IncomingCredit, {
        ...NOT_ARRIVED_ELSEWHERE,
        ...definedOnly({ status, mode, ownerId, walletId, createdAt: halfOpenRangeCondition(from, to) }),
      }),

    readFile: importBankFile,
    assign: assignCredit,
    returnCredit: returnIncomingCredit,
    suspense: listSuspenseBalances,
    payOut: recordSuspensePayout,

    own: ({ query: { status, walletId, from, to } }, { page, tenant }) =>
      page(IncomingCredit, {
        ...tenant,
        ...ARRIVED_CREDIT_CONDITION,
        ...definedOnly({ status, walletId, createdAt: halfOpenRangeCondition(from, to) }),
      }),

    getOwn: async ({ params }, { em, tenant, refuse }) =>
      (await em.findOne(IncomingCredit, { ...tenant, ...ARRIVED_CREDIT_CONDITION, id: params.id })) ??
      refuse('credit_not_found'),

    assignOwn: assignOwnCredit,
    arrive: bookArrivedCredits,
    finish: finishHandOver,
  },
)

const FROM_INCOMING_CREDITS =
  'from incoming_credits where owner_id = $1 and mode = $2 and id = any($3::text[])'

const creditNarratives = describePostings(
  'incoming_credit',
  `select id, sender_name as name, sender_iban as iban, reference, end_to_end_id as "endToEndId" ${FROM_INCOMING_CREDITS}`,
  narrativeOfRow,
)

/** The other side of a credit between owners, who sees its recipient. */
const handOverNarratives = describePostings(
  'hand_over',
  `select id, recipient_name as name, reference ${FROM_INCOMING_CREDITS}`,
  narrativeOfRow,
)

export const incomingArea = area(
  'Incoming',
  'Credits by SEPA: matched to a wallet, or waiting for one.',
  incoming,
  {
    entities: [IncomingCredit],
    machines: [incomingCreditMachine],
    deadlines: [handOverDeadline],
    answers: [creditNarratives, handOverNarratives],
  },
)
