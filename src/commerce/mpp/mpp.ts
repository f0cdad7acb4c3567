import { area } from '../../kernel/contract/area.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import { mppApi } from './api.ts'
import { MppCredential, mppCredentialMachine, OPEN } from './credential.ts'
import { evidence } from './evidence.ts'
import { machinePaymentsOn } from './intent-payments.ts'
import { mint, pay } from './pay/pay.ts'
import { mppPersonal } from './personal.ts'
import { mppProcess } from './process.ts'
import { protect, rules, unprotect } from './protect.ts'
import { protectApi } from './protect-api.ts'
import { ProtectRule } from './protect-rule.ts'
import { networkReactions } from './reactions.ts'
import { resolve } from './resolve.ts'
import { announcedEvents } from './schemas.ts'
import { deleteToken, settle } from './settle.ts'
import { status } from './status.ts'
import { stepsApi } from './steps-api.ts'

const mpp = implement(
  { ...mppApi, ...protectApi, ...stepsApi },
  {
    pay,
    mint,
    resolve,
    evidence,
    protect,
    rules,
    unprotect,
    settle,
    deleteToken,
    status,

    list: ({ query: { status, agentId, intentId, cardId } }, { page }) =>
      page(MppCredential, definedOnly({ status, agentId, intentId, cardId })),

    async get({ params }, { records, refuse }) {
      return (await records.findOne(MppCredential, { id: params.id })) ?? refuse('credential_not_found')
    },
  },
)

const outcomeDue: Deadline = {
  process: mppProcess,
  table: 'mpp_credentials',
  record: 'id',
  agent: 'agent_id',
  due: 'due_at',
  open: OPEN,
  waits: 'workflow_id is not null',
  operations: ['mpp.settle', 'mpp.deleteToken'],
}

export const mppArea = area(
  'MPP',
  'Paying merchants that ask for money by HTTP 402, once each, and only those that the owner lets be paid.',
  mpp,
  {
    personal: mppPersonal,
    entities: [MppCredential, ProtectRule],
    machines: [mppCredentialMachine],
    deadlines: [outcomeDue],
    openRecords: [
      {
        process: mppProcess,
        select:
          'select id, owner_id, mode, agent_id, amount_cents from mpp_credentials where due_at is not null and workflow_id is not null',
      },
    ],
    reactions: networkReactions,
    announces: announcedEvents,
    findPayments: machinePaymentsOn,
  },
)
